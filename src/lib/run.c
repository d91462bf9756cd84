#include "lib/run.h"

#include "base/text.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "lib/strings.h"
#include "run/follow.h"
#include "run/request.h"

void lib_run_done(struct lib_run *r)
{
	rundir_done(&r->dir);
	home_done(&r->home);
}

int lib_run_is_ours(const struct lib_call *call, const json_t *record)
{
	return text_is(json_get_text(record, "executor_id"), call->executor.id);
}

int lib_run_open(
	const struct lib_call *call, const char *handle, struct lib_run *ret, struct error *err)
{
	if (home_open(call->home, &ret->home, err) < 0 ||
		rundir_open(&ret->home, lib_text(handle), &ret->dir, err) < 0)
		return -1;
	stage_sweep(&ret->home);
	if (follow_adopt(&ret->home, &ret->dir, NULL, err) < 0)
		return -1;
	auto_json *record = rundir_read(&ret->dir, RECORD_FILE, err);
	if (!record)
		return -1;
	return lib_run_is_ours(call, record)
		       ? 0
		       : error_set(err, ERROR_HANDLE_NOT_FOUND, "%s is no run of executor %s",
				 quoted_string(handle), call->executor.id);
}

/* ---- Signals ---- */

static const char *const signals[] = {
	[CLOOP_SIGNAL_INTERRUPT] = "interrupt",
	[CLOOP_SIGNAL_TERMINATE] = "terminate",
	[CLOOP_SIGNAL_KILL] = "kill",
};

int cloop_container_signal(struct cloop_container *container, const struct cloop_cancel *cancel,
	const char *handle, enum cloop_signal signal, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);
	AUTO(lib_run) run = LIB_RUN_INIT;
	struct lib_call call;

	if (LIB_MISSING(e, container))
		return -1;
	if ((unsigned)signal >= ARRAY_SIZE(signals))
		return error_set(e, ERROR_SIGNAL_INVALID, "%d is no signal", (int)signal);
	lib_call_begin(container, cancel, &call);
	if (lib_cancel_check(cancel, e) < 0 || lib_run_open(&call, handle, &run, e) < 0)
		return -1;
	return request_signal(&run.home, &run.dir, signals[signal], e);
}
