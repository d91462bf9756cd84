/*
 * Signals, the ladder of a stop, the deadline (container-driver.md §14).
 *
 * INT and TERM go to the init as a message; its answer `signalled` says whether they reached the
 * workload. Without an answer for 2 s, or with a mute init, the engine's `kill` takes their place.
 * KILL goes through the init's pidfd, and the kernel ends everything in the sandbox. A sandbox that
 * does not react is paused, perhaps: it is thawed.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "executor/container/deadline.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/revoke.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum { ANSWER_MS = 2000, THAW_MS = 200, KILL_ATTEMPTS = 5, ENGINE_TIMEOUT_MS = 30000 };

void stop_cleanup(struct supervisor *s)
{
	struct loop_source **timers[] = {
		&s->deadline_timer, &s->grace_timer, &s->retry_timer, &s->thaw_timer};

	for (size_t i = 0; i < ARRAY_SIZE(timers); i++) {
		loop_remove(*timers[i]);
		*timers[i] = NULL;
	}
	engine_call_cancel(TAKE_PTR(s->kill_call));
}

/* The signal that was under way is so no more. */
static void settle(struct supervisor *s)
{
	loop_remove(s->retry_timer);
	s->retry_timer = NULL;
	s->pending_signal = 0;
	s->kill_attempts = 0;
}

/* A signal reached the live sandbox. */
static void delivered(struct supervisor *s)
{
	int signal = s->pending_signal;
	json_t *supervision = record_supervision(s->record);

	if (s->pending_asked)
		s->why_delivered = true;
	else if (signal == SIGINT)
		s->interrupt_sent = true;
	else if (signal == SIGTERM)
		s->terminate_sent = true;
	settle(s);
	json_object_set_new(supervision, "delivered", json_boolean(s->why_delivered));
	json_object_set_new(supervision, "interrupt_sent", json_boolean(s->interrupt_sent));
	json_object_set_new(supervision, "terminate_sent", json_boolean(s->terminate_sent));
	supervisor_persist(s, false);
	control_server_delivered(s->server);
}

/* The workload has ended: nothing to do, not delivered. */
static void too_late(struct supervisor *s)
{
	settle(s);
	control_server_delivered(s->server);
}

static const char *signal_word(int signal)
{
	return signal == SIGINT ? "INT" : signal == SIGTERM ? "TERM" : "KILL";
}

static void on_thaw(void *data)
{
	struct supervisor *s = data;

	s->thaw_timer = NULL;
	if (supervisor_released(s))
		floor_thaw(s);
}

static void engine_kill(struct supervisor *s);

static void on_retry(void *data)
{
	struct supervisor *s = data;

	s->retry_timer = NULL;
	if (supervisor_released(s) && s->pending_signal)
		engine_kill(s);
}

/* The request is withdrawn; it can be repeated at once (§14.3). A ladder first goes to its end. */
static void withdraw(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (s->pending_asked && s->grace_timer) {
		settle(s);
		return;
	}
	error_set(&err, ERROR_SIGNAL_FAILED, "SIG%s could not be delivered to run %s",
		signal_word(s->pending_signal), s->run.handle);
	record_warn(s->record, "signal_failed", "%s", err.message);
	if (s->pending_asked && !s->why_delivered) {
		s->why = NULL;
		json_object_del(record_supervision(s->record), "why");
		disk_withdraw(s);
		floor_withdraw(s);
		revoke_settle(s, "failed", err.message);
	}
	settle(s);
	supervisor_persist(s, false);
	control_server_failed(s->server, &err);
}

static void try_again(struct supervisor *s)
{
	if (++s->kill_attempts < KILL_ATTEMPTS)
		s->retry_timer = loop_at(s->loop, clock_boottime_ms() + ANSWER_MS, on_retry, s);
	else
		withdraw(s);
}

/* The engine's `kill` failed: is there anything left to signal? */
static void on_inspected(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->kill_call = NULL;
	if (!supervisor_released(s) || !s->pending_signal)
		return;
	if (s->end_waits) {
		too_late(s);
		finish_begin(s);
		return;
	}
	bool answered = answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0;
	if (answered ? !seen.running : inspect_says_unknown(answer->stderr_text))
		too_late(s);
	else
		try_again(s);
}

static void on_engine_killed(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->kill_call = NULL;
	if (!supervisor_released(s) || !s->pending_signal)
		return;
	if (answer->exit_code == 0) {
		delivered(s);
		if (s->end_waits)
			finish_begin(s);
		else
			floor_thaw(s);
		return;
	}
	s->kill_call = supervisor_inspect(s, on_inspected, &err);
	if (!s->kill_call)
		try_again(s);
}

static void engine_kill(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *option = mem_printf("--signal=%s", signal_word(s->pending_signal));
	const char *args[] = {"kill", option, supervisor_container(s), NULL};

	engine_call_cancel(s->kill_call);
	s->kill_call = supervisor_engine(s, args, ENGINE_TIMEOUT_MS, on_engine_killed, &err);
	if (!s->kill_call)
		try_again(s);
}

static void on_no_word(void *data)
{
	struct supervisor *s = data;

	s->retry_timer = NULL;
	settle(s);
	finish_begin(s);
}

bool stop_holds_up_end(struct supervisor *s)
{
	if (!s->kill_call || !s->pending_signal)
		return false;
	s->end_waits = true;
	if (!s->retry_timer)
		s->retry_timer = loop_at(s->loop, clock_boottime_ms() + ANSWER_MS, on_no_word, s);
	return true;
}

/* The init said so, or has ended without a word. */
static bool has_ended(const struct supervisor *s)
{
	struct pollfd p = {.fd = s->init_pidfd, .events = POLLIN};

	return s->wait_status >= 0 || (s->init_pidfd >= 0 && poll(&p, 1, 0) > 0);
}

static bool kill_by_pidfd(const struct supervisor *s)
{
	return s->init_pidfd >= 0 &&
	       syscall(SYS_pidfd_send_signal, s->init_pidfd, SIGKILL, NULL, 0) == 0;
}

/* §17.2: before the signal of a kill, a timeout, a full disk, a revocation. */
static bool takes_interfaces(const struct supervisor *s, int signal)
{
	return signal == SIGKILL || !s->why || strcmp(s->why, "cancelled") != 0;
}

/* asked: for the request on record, else for a user. */
static void send_signal(struct supervisor *s, int signal, bool asked)
{
	/* The engine is at it: cancelled, its call may do it and nobody would know. */
	if (s->kill_call && s->pending_signal == signal && s->pending_asked == asked)
		return;
	settle(s);
	s->pending_signal = signal;
	s->pending_asked = asked;
	if (asked && takes_interfaces(s, signal))
		interfaces_return(s);
	if (has_ended(s)) {
		too_late(s);
		return;
	}
	loop_remove(s->thaw_timer);
	s->thaw_timer = loop_at(s->loop, clock_boottime_ms() + THAW_MS, on_thaw, s);
	/* Its group may be gone before its end is heard of. */
	if (signal == SIGKILL)
		finish_read_usage(s);
	if (signal == SIGKILL && kill_by_pidfd(s)) {
		fault_hit("stop:killed");
		delivered(s);
	} else if (gate_send_signal(s, signal) == 0)
		s->retry_timer = loop_at(s->loop, clock_boottime_ms() + ANSWER_MS, on_retry, s);
	else
		engine_kill(s);
}

void stop_on_signalled(struct supervisor *s, uint32_t signal, uint32_t error)
{
	if (s->pending_signal != (int)signal)
		return;
	loop_remove(s->thaw_timer);
	s->thaw_timer = NULL;
	if (error == 0)
		delivered(s);
	else
		too_late(s);
}

void stop_signal(struct supervisor *s, int signal)
{
	if (s->phase == PHASE_ADOPTING || standalone_start_pending(s))
		s->queued_signal = signal;
	else if (supervisor_released(s))
		send_signal(s, signal, false);
	else
		control_server_delivered(s->server);
}

static void on_grace_over(void *data)
{
	struct supervisor *s = data;

	s->grace_timer = NULL;
	if (supervisor_released(s))
		send_signal(s, SIGKILL, true);
}

static void cancel_start(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_START_CANCELLED, "the start was cancelled");
	start_fail(s, &err);
}

/* The intent is on record before its first signal: a new supervisor takes it up. */
static void record_request(struct supervisor *s, const char *why, int64_t grace_ms)
{
	json_t *v = record_supervision(s->record);

	if (s->why && strcmp(s->why, why) != 0)
		record_warn(s->record, "stop_again", "%s came while the run was being stopped (%s)",
			why, s->why);
	else
		s->why = why;
	json_object_set_new(v, "why", json_string(s->why));
	json_object_set_new(v, "kill_boottime_ms", json_integer(clock_boottime_ms() + grace_ms));
	supervisor_persist(s, false);
}

/* A start is given up for those who do not want the run; the others are about a run. */
static bool cancels_start(const struct supervisor *s, const char *why)
{
	return s->phase == PHASE_STARTING ||
	       (standalone_start_pending(s) &&
		       (strcmp(why, "cancelled") == 0 || strcmp(why, "revoked") == 0));
}

void stop_request(struct supervisor *s, const char *why, int64_t grace_ms)
{
	if (cancels_start(s, why)) {
		cancel_start(s);
		return;
	}
	if (!supervisor_released(s) && s->phase != PHASE_ADOPTING)
		return;
	if (grace_ms < 0)
		grace_ms = s->plan.stop_grace_ms;
	record_request(s, why, grace_ms);
	if (s->phase == PHASE_ADOPTING || standalone_start_pending(s))
		return;
	loop_remove(s->grace_timer);
	s->grace_timer = NULL;
	if (grace_ms > 0)
		s->grace_timer = loop_at(s->loop, clock_boottime_ms() + grace_ms, on_grace_over, s);
	send_signal(s, grace_ms > 0 ? SIGTERM : SIGKILL, true);
}

void stop_resume(struct supervisor *s)
{
	int64_t kill_at = json_get_int(record_supervision(s->record), "kill_boottime_ms", 0);

	if (s->queued_signal)
		send_signal(s, s->queued_signal, false);
	s->queued_signal = 0;
	if (!s->why)
		return;
	s->grace_timer = loop_at(s->loop, kill_at, on_grace_over, s);
	if (!s->why_delivered && kill_at > clock_boottime_ms())
		send_signal(s, SIGTERM, true);
}

static void on_deadline(void *data)
{
	struct supervisor *s = data;

	s->deadline_timer = NULL;
	stop_request(s, "timeout", -1);
}

void stop_arm_deadline(struct supervisor *s)
{
	const json_t *v = record_supervision(s->record);
	struct deadline d = {
		.boottime_ms = json_get_int(v, "deadline_boottime_ms", 0),
		.boot_id = json_get_text(v, "boot_id"),
	};
	int64_t now = clock_boottime_ms(), wait = 0;

	/* Past already and acted upon: the request on record is what counts now. */
	if (s->why && strcmp(s->why, "timeout") == 0)
		return;
	/* A run of another boot has ended (§16.2): nothing is armed for it. */
	enum deadline_state state = deadline_judge(&d, text_of(clock_boot_id()), now, &wait);
	if (state == DEADLINE_FIRE || state == DEADLINE_WAIT)
		s->deadline_timer = loop_at(s->loop, now + wait, on_deadline, s);
}
