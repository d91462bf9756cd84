#include "executor/container/driver/revoke.h"

#include "executor/container/driver/driver.h"
#include "executor/container/driver/shim.h"
#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/clock.h"

enum {
	ANSWER_MS = 150000, /* two removals of a minute each, and what precedes them */
	LISTEN_MS = 3000,   /* until a new supervisor listens */
	END_MS = 10000,     /* until a supervisor has removed what is left of a run */
	AGAIN_MS = 20,
	NAMES_MAX = 10000,
};

struct revocation {
	const struct executor *executor;
	struct home home;
	struct rundir run;
};

static void revocation_done(struct revocation *r)
{
	rundir_done(&r->run);
	home_done(&r->home);
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

static bool has_ended(const struct revocation *r)
{
	auto_json *record = read_record(r);

	return record && record_final(record);
}

static bool container_left(const struct revocation *r)
{
	auto_json *record = read_record(r);
	size_t i;
	json_t *warning;

	json_array_foreach(json_object_get(record, "warnings"), i,
		warning) if (text_is(json_get_text(warning, "code"), "container_left")) return true;
	return false;
}

/* A supervisor, if nobody is one; false: there is none, and none can be started. */
static bool supervise(const struct revocation *r, struct error *err)
{
	struct child child = CHILD_INIT;
	int held = rundir_supervised(&r->run, err);

	if (held != 0)
		return held > 0;
	if (shim_adopt(&r->home, r->run.handle, &child, err) < 0)
		return false;
	close(child.pidfd);
	return true;
}

/* The run has ended: its supervisor removes the last of it; what one left behind is tried again. */
static json_t *after_the_end(const struct revocation *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) names = STRV_INIT(NAMES_MAX);
	int64_t until = clock_boottime_ms() + END_MS;

	if (rundir_has_leftovers(&r->run) && !supervise(r, &err))
		return outcome("unreachable", err.message);
	while (rundir_supervised(&r->run, &err) > 0 && clock_boottime_ms() < until)
		clock_sleep_ms(AGAIN_MS);
	if (stage_wipe_run(&r->run, &err) < 0)
		return outcome("failed", err.message);
	if (container_left(r) && container_driver_reap(r->executor, r->home.path, &names, &err) < 0)
		return outcome("unreachable", err.message);
	return outcome("done", NULL);
}

/* 0 it answered; 1 nobody listens yet; -1 it refused the request. */
static int ask(const struct revocation *r, const json_t *request, json_t **ret, struct error *err)
{
	auto_json *call = json_deep_copy(request);

	json_object_set_new(call, "op", json_string("revoke"));
	if (control_call(&r->home, r->run.handle, call, ANSWER_MS, ret, err) == 0)
		return 0;
	return error_is(err, ERROR_LEASE_MISSING) ? -1 : 1;
}

int container_driver_revoke(const struct executor *e, const char *home, const char *handle,
	const json_t *request, json_t **ret, struct error *err)
{
	AUTO(revocation) r = {e, HOME_INIT, RUNDIR_INIT};
	int64_t until = clock_boottime_ms() + LISTEN_MS;

	if (home_open(home, &r.home, err) < 0 || rundir_open(&r.home, handle, &r.run, err) < 0)
		return -1;
	if (text_blank(json_get_text(request, "lease")))
		return error_set(err, ERROR_LEASE_MISSING, "a revocation names no lease");
	for (;;) {
		auto_error struct error why = ERROR_INIT;
		bool there = !has_ended(&r) && supervise(&r, &why);
		int got = there ? ask(&r, request, ret, &why) : 1;
		if (got == 0)
			return 0;
		if (has_ended(&r)) {
			*ret = after_the_end(&r);
			return 0;
		}
		/* A new supervisor needs a moment until it listens. */
		if (got < 0 || clock_boottime_ms() > until ||
			!error_is(&why, ERROR_ATTACH_CLOSED)) {
			*ret = outcome("unreachable", why.message);
			return 0;
		}
		clock_sleep_ms(AGAIN_MS);
	}
}
