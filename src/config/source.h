/*
 * How config.yaml is opened and replaced (config.md §1): a regular file, no link in the last
 * component, at most 256 KiB, of root or of us, not writable by others. Which file it is:
 * cli_config().
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

/*
 * Reads it: 0, or 1 = there is no such file (*ret is empty), or -1 config_unsafe or io. *ret_mode
 * gets its permission bits.
 */
must_check int source_read(const char *path, struct str *ret, mode_t *ret_mode, struct error *err);

/* Mode of a file that is made: 0644 for root, 0600 for others. */
mode_t source_default_mode(void);
/* Replaces it atomically and durably, making the directory that holds it. */
must_check int source_replace(const char *path, struct text bytes, mode_t mode, struct error *err);
