/* `cloop config set` (config.md §3). */
#pragma once

#include <stddef.h>

#include "base/error.h"

/*
 * Changes one key of the file at path, making it if there is none. n = 0 takes the key out. The
 * whole result is validated before the file is replaced atomically; on any error it is untouched.
 * option_unknown; the code that the file would be refused with, where it is one of ours, else
 * config_invalid; details hold `errors` as config_load() has them.
 */
must_check int set_key(
	const char *path, const char *key, char *const *values, size_t n, struct error *err);
