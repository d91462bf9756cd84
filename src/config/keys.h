/* Keys of config.yaml by their dotted path, for the command line and the reference. */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "schema/schema.h"

/* NULL: option_unknown, the remedy names what was probably meant. */
must_check const struct schema_key *keys_find(const char *path, struct error *err);
/* Calls fn for every key below `section` ("" = all) that holds a value, in order of the tables. */
typedef void keys_visit(void *data, const char *path, const struct schema_key *key);
void keys_each(const char *section, keys_visit *fn, void *data);
