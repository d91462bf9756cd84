#include "executor/container/driver/revoke.h"

#include "executor/container/driver/driver.h"
#include "executor/container/driver/shim.h"
#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/cancel.h"
#include "sys/clock.h"

enum {
	ANSWER_MS = 150000, /* two removals of a minute each, and what precedes them */
	LISTEN_MS = 3000,   /* until a new supervisor listens */
	END_MS = 10000,     /* until a supervisor has removed what is left of a run */
	AGAIN_MS = 20,
};

struct revocation {
	const struct executor *executor;
	struct home home;
	struct rundir run;
	int64_t until; /* boottime that the caller waits to; 0 = as long as it takes */
};

static void revocation_done(struct revocation *r)
{
	rundir_done(&r->run);
	home_done(&r->home);
}

/* So long, or as long as the caller waits. */
static int64_t within(const struct revocation *r, int64_t ms)
{
	int64_t left = r->until - clock_boottime_ms();

	if (r->until == 0 || left > ms)
		return ms;
	return left > 0 ? left : 1;
}

static json_t *outcome(const char *word, const char *reason)
{
	json_t *j = json_pack("{s:s}", "outcome", word);

	if (reason)
		json_object_set_new(j, "reason", json_from_string(reason));
	return j;
}

static json_t *read_record(const struct revocation *r)
{
	auto_error struct error err = ERROR_INIT;

	return rundir_read(&r->run, RECORD_FILE, &err);
}

static bool container_left(const struct revocation *r)
{
	auto_json *record = read_record(r);

	return record_warned(record, "container_left");
}

/* The run has ended: its supervisor removes the last of it; what one left behind is tried again. */
static json_t *after_the_end(const struct revocation *r)
{
	auto_error struct error err = ERROR_INIT;
	int64_t until = clock_boottime_ms() + within(r, END_MS);

	if (rundir_has_leftovers(&r->run) && shim_ensure(&r->home, &r->run, &err) < 0)
		return outcome("unreachable", err.message);
	while (rundir_supervised(&r->run, &err) > 0 && clock_boottime_ms() < until)
		if (cancel_pause(AGAIN_MS))
			break;
	if (rundir_supervised(&r->run, &err) > 0)
		return outcome("unreachable", "what is left of the run is still being removed");
	if (stage_wipe_run(&r->run, &err) < 0)
		return outcome("failed", err.message);
	if (container_left(r) && container_driver_reap_run(r->executor, r->home.path, r->run.handle,
					 r->until, &err) < 0)
		return outcome("unreachable", err.message);
	return outcome("done", NULL);
}

/* 0 it answered; 1 nobody listens yet; -1 it refused the request. */
static int ask(const struct revocation *r, const json_t *request, json_t **ret, struct error *err)
{
	auto_json *call = json_deep_copy(request);

	json_object_del(call, "wait_ms");
	json_object_set_new(call, "op", json_string("revoke"));
	if (control_call(&r->home, r->run.handle, call, within(r, ANSWER_MS), ret, err) == 0)
		return 0;
	return error_is(err, ERROR_LEASE_MISSING) ? -1 : 1;
}

int container_driver_revoke(const struct executor *e, const char *home, const char *handle,
	const json_t *request, json_t **ret, struct error *err)
{
	int64_t wait = json_get_int(request, "wait_ms", 0), now = clock_boottime_ms();
	AUTO(revocation) r = {e, HOME_INIT, RUNDIR_INIT, wait > 0 ? now + wait : 0};
	int64_t until = now + within(&r, LISTEN_MS);

	if (home_open(home, &r.home, err) < 0 || rundir_open(&r.home, handle, &r.run, err) < 0)
		return -1;
	if (text_blank(json_get_text(request, "lease")))
		return error_set(err, ERROR_LEASE_MISSING, "a revocation names no lease");
	for (;;) {
		auto_error struct error why = ERROR_INIT;
		bool there = !record_final_now(&r.run) && shim_ensure(&r.home, &r.run, &why) == 0;
		int got = there ? ask(&r, request, ret, &why) : 1;
		if (got == 0)
			return 0;
		if (record_final_now(&r.run)) {
			*ret = after_the_end(&r);
			return 0;
		}
		/* A new supervisor needs a moment until it listens. */
		if (got < 0 || clock_boottime_ms() > until ||
			!error_is(&why, ERROR_ATTACH_CLOSED) || cancel_pause(AGAIN_MS)) {
			*ret = outcome("unreachable", why.message);
			return 0;
		}
	}
}
