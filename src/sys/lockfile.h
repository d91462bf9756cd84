/*
 * Advisory locks on files: open file description locks, so a lock lives as long as the descriptor
 * (inherited by a child on purpose, or not at all) and never longer than its holders.
 *
 * Whoever holds a lock may remove its file, and nobody else: a lock is always got on the file that
 * has the name by then, and one that lost its name excludes nobody who comes later.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Opens (makes, 0600) dir/name and takes an exclusive lock: the descriptor in *ret_fd, or 1 = held
 * by somebody else (non-blocking), or -1.
 */
must_check int lockfile_try(int dir, const char *name, int *ret_fd, struct error *err);
/* Is somebody holding it? 1 yes, 0 no (or no such file), -1 error. Takes nothing. */
must_check int lockfile_held(int dir, const char *name, struct error *err);
/*
 * An exclusive lock (flock) on the open directory itself, as long as its descriptor lives; never
 * waits. False: somebody else holds one, or it cannot be locked.
 */
must_check bool lockfile_try_directory(int dir);
/*
 * Waits (polling with back-off of 5-50 ms) for dir/name: 0 and its descriptor, or 1 = deadline_ms
 * (boottime; 0 = none) passed, or 2 = cancel_fd (-1 = none) became readable.
 */
must_check int lockfile_wait(int dir, const char *name, int64_t deadline_ms, int cancel_fd,
	int *ret_fd, struct error *err);
/* A counting semaphore: the lock files NAME-0 … NAME-(slots-1) below dir. */
struct lockfile_pool {
	int dir;
	const char *name;
	unsigned slots;
};
/* One attempt for any of the slots: 0 and its descriptor, 1 = all are held, -1. */
must_check int lockfile_try_slot(const struct lockfile_pool *pool, int *ret_fd, struct error *err);
