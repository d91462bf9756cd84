/* Opening an attach session in a run (container-driver.md §18, §16.2). */
#pragma once

#include "executor/container/decisions/attach-request.h"
#include "executor/rundir/rundir.h"

/*
 * *ret_fd, the caller's, speaks the frames of §18.3; its first one is `ready` or `error`. A run
 * whose supervisor died gets a new one first, and the time that this one needs (seconds). Errors:
 * argv_empty, argv_invalid, argv_too_large, attach_closed, attach_busy; executor_unsupported for a
 * run that is no sandbox.
 */
must_check int attach_open(const struct home *home, const struct rundir *run,
	const struct attach_wish *wish, int *ret_fd, struct error *err);
