#include "run/request.h"

#include <string.h>

#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "executor/rundir/space-wait.h"
#include "run/follow.h"
#include "sys/cancel.h"
#include "sys/clock.h"

enum { ANSWER_MS = 60000, LISTEN_MS = 3000, AGAIN_MS = 20, WAIT_ENDS_MS = 10000 };

int request_ask(const struct home *home, const struct rundir *run, const json_t *request,
	int64_t timeout_ms, json_t **ret, struct error *err)
{
	bool hurry = timeout_ms > 0 && timeout_ms < LISTEN_MS;
	int64_t until = clock_boottime_ms() + (hurry ? timeout_ms : LISTEN_MS);

	for (;;) {
		if (record_final_now(run))
			return 0;
		if (follow_adopt(home, run, NULL, err) < 0)
			return -1;
		if (control_call(home, run->handle, request, timeout_ms, ret, err) == 0)
			return 0;
		if (record_final_now(run))
			return 0;
		/* A new supervisor needs a moment until it listens. */
		if (!error_is(err, ERROR_ATTACH_CLOSED) || clock_boottime_ms() > until)
			return -1;
		if (cancel_pause(AGAIN_MS))
			return cancel_refuse(err, "the request to the supervisor");
	}
}

int request_send(const struct home *home, const struct rundir *run, const json_t *request,
	int64_t timeout_ms, struct error *err)
{
	return request_ask(home, run, request, timeout_ms, NULL, err);
}

/* A run that waits for free space has no supervisor yet: the wait ends first, if it still goes on.
 */
static int end_wait(const struct home *home, const struct rundir *run, struct error *err)
{
	int64_t until = clock_boottime_ms() + WAIT_ENDS_MS;

	while (space_wait_goes_on(run) && clock_boottime_ms() < until) {
		if (space_wait_cancel(run, err) < 0 || follow_adopt(home, run, NULL, err) < 0)
			return -1;
		if (cancel_pause(AGAIN_MS))
			return cancel_refuse(err, "the end of the wait for free space");
	}
	return 0;
}

int request_signal(
	const struct home *home, const struct rundir *run, const char *signal, struct error *err)
{
	auto_json *request = json_pack("{s:s, s:s}", "op", "signal", "signal", signal);

	if (strcmp(signal, "interrupt") && strcmp(signal, "terminate") && strcmp(signal, "kill"))
		return error_set(
			err, ERROR_SIGNAL_INVALID, "%s is no signal", quoted_string(signal));
	if (end_wait(home, run, err) < 0)
		return -1;
	return request_send(home, run, request, ANSWER_MS, err);
}

int request_stop(
	const struct home *home, const struct rundir *run, int64_t grace_ms, struct error *err)
{
	auto_json *request =
		json_pack("{s:s, s:I}", "op", "stop", "grace_ms", (json_int_t)grace_ms);

	if (end_wait(home, run, err) < 0)
		return -1;
	return request_send(home, run, request, 0, err);
}
