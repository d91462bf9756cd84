/*
 * Signals, the ladder of a stop, the deadline (container-driver.md §14): to the process group of
 * the first process, as a terminal would. SIGKILL ends the group; whoever left it is ended with the
 * run.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "executor/localprocess/local-supervisor.h"
#include "sys/clock.h"

void local_stop_cleanup(struct local_supervisor *s)
{
	loop_remove(s->deadline_timer);
	loop_remove(s->grace_timer);
	s->deadline_timer = s->grace_timer = NULL;
}

/* It has ended and only was not collected yet: a signal would come too late. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

static void note_delivered(struct local_supervisor *s, int signal)
{
	json_t *supervision = record_supervision(s->record);

	if (s->why != STOP_NONE)
		s->why_delivered = true;
	else if (signal == SIGINT)
		s->interrupt_sent = true;
	else if (signal == SIGTERM)
		s->terminate_sent = true;
	json_object_set_new(supervision, "delivered", json_boolean(s->why_delivered));
	json_object_set_new(supervision, "interrupt_sent", json_boolean(s->interrupt_sent));
	json_object_set_new(supervision, "terminate_sent", json_boolean(s->terminate_sent));
	local_persist(s, false);
}

/* -1 (signal_failed): it is alive, and may not be signalled. */
static int send_signal(struct local_supervisor *s, int signal, struct error *err)
{
	if (has_ended(s->first.pid))
		return 0;
	if (kill(-s->first.pid, signal) == 0) {
		note_delivered(s, signal);
		return 0;
	}
	return errno == ESRCH ? 0
			      : error_set_errno(err, ERROR_SIGNAL_FAILED, errno,
					"sending signal %d to the run", signal);
}

int local_stop_signal(struct local_supervisor *s, int signal, struct error *err)
{
	return s->phase == LOCAL_RUNNING ? send_signal(s, signal, err) : 0;
}

/* A rung of the ladder: what fails is a warning, the next one is tried all the same. */
static void step(struct local_supervisor *s, int signal)
{
	auto_error struct error err = ERROR_INIT;

	if (send_signal(s, signal, &err) < 0)
		record_warn(s->record, "signal_failed", "%s", err.message);
}

static void on_grace_over(void *data)
{
	struct local_supervisor *s = data;

	s->grace_timer = NULL;
	if (s->phase == LOCAL_RUNNING)
		step(s, SIGKILL);
}

/* A second request only shortens or lengthens the grace of the first. */
static void take_up(struct local_supervisor *s, enum stop_why why, int64_t grace_ms)
{
	json_t *supervision = record_supervision(s->record);

	if (s->why == STOP_NONE)
		s->why = why;
	else if (s->why != why)
		record_warn(s->record, "stop_again", "%s came while the run was being stopped (%s)",
			stop_why_text(why), stop_why_text(s->why));
	json_object_set_new(supervision, "why", json_string(stop_why_text(s->why)));
	json_object_set_new(
		supervision, "kill_boottime_ms", json_integer(clock_boottime_ms() + grace_ms));
	local_persist(s, false);
}

void local_stop_request(struct local_supervisor *s, enum stop_why why, int64_t grace_ms)
{
	auto_error struct error err = ERROR_INIT;

	if (s->phase == LOCAL_STARTING || s->phase == LOCAL_RELEASED) {
		error_set(&err, ERROR_START_CANCELLED, "the start was cancelled");
		local_begin_fail(s, &err);
	}
	if (s->phase != LOCAL_RUNNING)
		return;
	if (grace_ms < 0)
		grace_ms = s->plan.stop_grace_ms;
	take_up(s, why, grace_ms);
	loop_remove(s->grace_timer);
	s->grace_timer = NULL;
	if (grace_ms > 0)
		s->grace_timer = loop_at(s->loop, clock_boottime_ms() + grace_ms, on_grace_over, s);
	step(s, grace_ms > 0 ? SIGTERM : SIGKILL);
}

static void on_deadline(void *data)
{
	struct local_supervisor *s = data;

	s->deadline_timer = NULL;
	local_stop_request(s, STOP_TIMEOUT, -1);
}

void local_stop_arm_deadline(struct local_supervisor *s)
{
	int64_t at = json_get_int(record_supervision(s->record), "deadline_boottime_ms", 0);

	if (at > 0)
		s->deadline_timer = loop_at(s->loop, at, on_deadline, s);
}
