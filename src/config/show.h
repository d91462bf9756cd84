/* `cloop config show`: effective values, each with where it comes from (config.md §3). */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Values of `key` (a key or a section; NULL = all): {path, present, values: [{key, value, origin:
 * "file" or "default", line}]}. A value of the file is shown as it is written, a list without a
 * default as null where nothing is set. path = NULL shows the defaults alone. Errors as
 * config_load(), and option_unknown.
 */
must_check int show_config(const char *path, const char *key, json_t **ret, struct error *err);
/* The same as lines: KEY: VALUE, then "# line N" or "# default". */
void show_text(const json_t *shown, struct str *out);
