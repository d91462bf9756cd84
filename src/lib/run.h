/* One run of a container executor, for calls about it. */
#pragma once

#include "executor/rundir/rundir.h"
#include "lib/container.h"

struct lib_run {
	struct home home;
	struct rundir dir;
};
#define LIB_RUN_INIT ((struct lib_run){.home = HOME_INIT, .dir = RUNDIR_INIT})
void lib_run_done(struct lib_run *r);

/*
 * The run of this handle; if its supervisor died it gets a new one, and its stage is looked after.
 * Errors: handle_invalid, handle_not_found (also for a run of another executor), home_*, io.
 */
must_check int lib_run_open(
	const struct lib_call *call, const char *handle, struct lib_run *ret, struct error *err);
/* Of this executor. */
must_check int lib_run_is_ours(const struct lib_call *call, const json_t *record);
