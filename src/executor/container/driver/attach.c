#include "executor/container/driver/attach.h"

#include "executor/container/driver/driver.h"
#include "executor/container/driver/shim.h"
#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "sys/cancel.h"
#include "sys/clock.h"

enum {
	ANSWER_MS = 60000,
	LISTEN_MS = 3000, /* until a new supervisor listens */
	INIT_MS = 11000,  /* until it has found the init, or calls it mute */
	AGAIN_MS = 20,
};

/* How long it is worth while to ask again after this refusal. */
static int64_t patience(const struct error *err)
{
	if (!error_is(err, ERROR_ATTACH_CLOSED))
		return 0;
	const json_t *soon = json_object_get(err->details, "soon");
	return !soon ? LISTEN_MS : json_is_true(soon) ? INIT_MS : 0;
}

int attach_open(const struct home *home, const struct rundir *run, const struct attach_wish *wish,
	int *ret_fd, struct error *err)
{
	int64_t begin = clock_boottime_ms();
	auto_json *request = NULL;

	if (attach_request_make(wish, &request, err) < 0)
		return -1;
	while (!record_final_now(run)) {
		if (shim_ensure(home, run, err) < 0)
			return -1;
		if (control_keep(home, run->handle, request, ANSWER_MS, ret_fd, err) == 0)
			return 0;
		if (clock_boottime_ms() >= begin + patience(err) && !record_final_now(run))
			return -1;
		if (cancel_pause(AGAIN_MS))
			return cancel_refuse(err, "the session");
	}
	error_set(err, ERROR_ATTACH_CLOSED, "run %s has ended", run->handle);
	return error_set_remedy(err,
		"its output: cloop logs %s; a session needs a run that goes on: cloop ps",
		run->handle);
}

int container_driver_attach(const struct executor *e, const char *home, const char *handle,
	const struct executor_attach *how, int *ret_fd, struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	struct attach_wish wish = {.argv = how->argv,
		.tty = how->tty,
		.write = how->write,
		.rows = how->rows,
		.cols = how->columns};

	(void)e;
	if (home_open(home, &h, err) < 0 || rundir_open(&h, handle, &run, err) < 0)
		return -1;
	return attach_open(&h, &run, &wish, ret_fd, err);
}
