/* Starting cloop-shim. */
#pragma once

#include "executor/rundir/rundir.h"
#include "sys/spawn.h"

/* Environment of a supervisor: what finds its home and sockets, and CLOOP_FAULT for tests. */
must_check int shim_start(const struct home *h, const char *handle, int lock_fd, int caller_fd,
	struct child *ret, struct error *err);
/*
 * A supervisor for a run that has none (container-driver.md §16.2). Its CLOOP_FAULT is our
 * CLOOP_FAULT_ADOPT, so that a test can break either one.
 */
must_check int shim_adopt(
	const struct home *h, const char *handle, struct child *ret, struct error *err);
/* shim_adopt() where nobody supervises the run; whoever does then is not waited for. */
must_check int shim_ensure(const struct home *h, const struct rundir *run, struct error *err);
