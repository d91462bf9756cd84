/*
 * Advisory locks on files: open file description locks, so a lock lives as long as the descriptor
 * (inherited by a child on purpose, or not at all) and never longer than its holders.
 */
#pragma once

#include "base/error.h"

/*
 * Opens (makes, 0600) dir/name and takes an exclusive lock: the descriptor in *ret_fd, or 1 = held
 * by somebody else (non-blocking), or -1.
 */
must_check int lockfile_try(int dir, const char *name, int *ret_fd, struct error *err);
/* Is somebody holding it? 1 yes, 0 no (or no such file), -1 error. Takes nothing. */
must_check int lockfile_held(int dir, const char *name, struct error *err);
/*
 * A counting semaphore of `slots` lock files NAME-0 … NAME-(slots-1) below dir: waits (polling with
 * back-off of 5-50 ms) until one is free or deadline_ms (boottime; 0 = none) passes or cancel_fd
 * (-1 = none) becomes readable (= 1).
 */
must_check int lockfile_slot(int dir, const char *name, unsigned slots, int64_t deadline_ms,
	int cancel_fd, int *ret_fd, struct error *err);
