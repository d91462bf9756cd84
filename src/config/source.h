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
/*
 * One change of the file, from reading it to replacing it: others wait. The lock is the file
 * .NAME.lock next to it, which stays.
 */
struct source_change {
	int dir, lock;
};
#define SOURCE_CHANGE_INIT ((struct source_change){-1, -1})
void source_change_done(struct source_change *c);
/* Makes the directory that holds the file; waits ten seconds at most. `io`. */
must_check int source_change_begin(const char *path, struct source_change *ret, struct error *err);
/* Replaces it atomically and durably. */
must_check int source_replace(const struct source_change *c, const char *path, struct text bytes,
	mode_t mode, struct error *err);
