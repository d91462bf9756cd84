/*
 * Signals, the ladder of a stop, the deadline (container-driver.md §14).
 *
 * INT and TERM go to the init as a message; its answer `signalled` says whether they reached the
 * workload. Without an answer for 2 s, or with a mute init, the engine's `kill` takes their place.
 * KILL goes through the init's pidfd, and the kernel ends everything in the sandbox.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"

enum { ANSWER_MS = 2000, KILL_ATTEMPTS = 5, KILL_TIMEOUT_MS = 30000 };

void stop_cleanup(struct supervisor *s)
{
	loop_remove(s->deadline_timer);
	loop_remove(s->grace_timer);
	loop_remove(s->retry_timer);
	s->deadline_timer = s->grace_timer = s->retry_timer = NULL;
	engine_call_cancel(s->kill_call);
	s->kill_call = NULL;
}

/* A signal reached the live sandbox. */
static void delivered(struct supervisor *s, int signal)
{
	loop_remove(s->retry_timer);
	s->retry_timer = NULL;
	s->pending_signal = 0;
	s->kill_attempts = 0;
	if (s->why)
		s->why_delivered = true;
	else if (signal == SIGINT)
		s->interrupt_sent = true;
	else if (signal == SIGTERM)
		s->terminate_sent = true;
	json_t *supervision = record_supervision(s->record);
	json_object_set_new(supervision, "delivered", json_boolean(s->why_delivered));
	json_object_set_new(supervision, "interrupt_sent", json_boolean(s->interrupt_sent));
	json_object_set_new(supervision, "terminate_sent", json_boolean(s->terminate_sent));
	supervisor_persist(s, false);
}

static const char *signal_word(int signal)
{
	return signal == SIGINT ? "INT" : signal == SIGTERM ? "TERM" : "KILL";
}

static void engine_kill(struct supervisor *s, int signal);

static void on_retry(void *data)
{
	struct supervisor *s = data;

	s->retry_timer = NULL;
	if (s->phase == PHASE_RUNNING && s->pending_signal)
		engine_kill(s, s->pending_signal);
}

static void on_engine_killed(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->kill_call = NULL;
	if (s->phase != PHASE_RUNNING || !s->pending_signal)
		return;
	if (answer->exit_code == 0) {
		delivered(s, s->pending_signal);
		return;
	}
	if (++s->kill_attempts < KILL_ATTEMPTS) {
		s->retry_timer = loop_at(s->loop, clock_boottime_ms() + ANSWER_MS, on_retry, s);
		return;
	}
	/* The request is withdrawn; it can be repeated at once (§14.3). */
	record_warn(s->record, "signal_failed", "SIG%s could not be delivered",
		signal_word(s->pending_signal));
	s->pending_signal = 0;
	s->kill_attempts = 0;
	if (!s->why_delivered)
		s->why = NULL;
	supervisor_persist(s, false);
}

static void engine_kill(struct supervisor *s, int signal)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *option = mem_printf("--signal=%s", signal_word(signal));
	const char *args[] = {"kill", option, supervisor_container(s), NULL};

	engine_call_cancel(s->kill_call);
	s->kill_call = supervisor_engine(s, args, KILL_TIMEOUT_MS, on_engine_killed, &err);
	if (!s->kill_call && ++s->kill_attempts < KILL_ATTEMPTS)
		s->retry_timer = loop_at(s->loop, clock_boottime_ms() + ANSWER_MS, on_retry, s);
}

static void send_signal(struct supervisor *s, int signal)
{
	loop_remove(s->retry_timer);
	s->retry_timer = NULL;
	s->pending_signal = signal;
	s->kill_attempts = 0;
	if (signal == SIGKILL && s->init_pidfd >= 0 &&
		syscall(SYS_pidfd_send_signal, s->init_pidfd, SIGKILL, NULL, 0) == 0) {
		delivered(s, signal);
		return;
	}
	if (gate_send_signal(s, signal) == 0)
		s->retry_timer = loop_at(s->loop, clock_boottime_ms() + ANSWER_MS, on_retry, s);
	else
		engine_kill(s, signal);
}

void stop_on_signalled(struct supervisor *s, uint32_t signal, uint32_t error)
{
	if (s->pending_signal != (int)signal)
		return;
	if (error == 0) {
		delivered(s, (int)signal);
		return;
	}
	/* The workload has ended: nothing to do, not delivered. */
	loop_remove(s->retry_timer);
	s->retry_timer = NULL;
	s->pending_signal = 0;
}

void stop_signal(struct supervisor *s, int signal)
{
	if (s->phase == PHASE_RUNNING)
		send_signal(s, signal);
}

static void on_grace_over(void *data)
{
	struct supervisor *s = data;

	s->grace_timer = NULL;
	if (s->phase == PHASE_RUNNING)
		send_signal(s, SIGKILL);
}

void stop_request(struct supervisor *s, const char *why, int64_t grace_ms)
{
	auto_error struct error err = ERROR_INIT;

	if (s->phase == PHASE_STARTING || s->phase == PHASE_RELEASED) {
		error_set(&err, ERROR_START_CANCELLED, "the start was cancelled");
		start_fail(s, &err);
		return;
	}
	if (s->phase != PHASE_RUNNING)
		return;
	if (s->why && strcmp(s->why, why) != 0)
		record_warn(s->record, "stop_again", "%s came while the run was being stopped (%s)",
			why, s->why);
	else
		s->why = why;
	if (grace_ms < 0)
		grace_ms = s->plan.stop_grace_ms;
	json_t *supervision = record_supervision(s->record);
	json_object_set_new(supervision, "why", json_string(s->why));
	json_object_set_new(
		supervision, "kill_boottime_ms", json_integer(clock_boottime_ms() + grace_ms));
	supervisor_persist(s, false);
	loop_remove(s->grace_timer);
	s->grace_timer = NULL;
	if (grace_ms == 0) {
		send_signal(s, SIGKILL);
		return;
	}
	s->grace_timer = loop_at(s->loop, clock_boottime_ms() + grace_ms, on_grace_over, s);
	send_signal(s, SIGTERM);
}

static void on_deadline(void *data)
{
	struct supervisor *s = data;

	s->deadline_timer = NULL;
	stop_request(s, "timeout", -1);
}

void stop_arm_deadline(struct supervisor *s)
{
	int64_t at = json_get_int(record_supervision(s->record), "deadline_boottime_ms", 0);

	if (at > 0)
		s->deadline_timer = loop_at(s->loop, at, on_deadline, s);
}
