/*
 * Taking over a run whose supervisor died (container-driver.md §16.2). The engine is asked once
 * what it knows of the container; decisions/lifecycle.h says what follows from that and the record.
 * While the engine does not answer the run's state is `unknown` and it is asked again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "executor/container/decisions/lifecycle.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/container/supervise/verify.h"
#include "sys/clock.h"

enum {
	INSPECT_TIMEOUT_MS = 30000,
	AGAIN_FIRST_MS = 1000,
	AGAIN_MAX_MS = 30000,
	INIT_WAIT_MS = 10000
};

static void ask(void *data);

static void note_crash(struct supervisor *s)
{
	supervisor_note(s,
		"the supervisor of this run died and was replaced; at most one read of each "
		"stream may be missing");
}

/* What the dead supervisor put on record about signals and requests. */
static void restore(struct supervisor *s)
{
	json_t *v = record_supervision(s->record);
	int why = stop_why_from_text(json_get_text(v, "why"));

	if (why > STOP_NONE)
		s->why = stop_why_text((enum stop_why)why);
	s->why_delivered = json_get_bool(v, "delivered", false);
	s->interrupt_sent = json_get_bool(v, "interrupt_sent", false);
	s->terminate_sent = json_get_bool(v, "terminate_sent", false);
	s->wait_status = json_get_int(v, "wait_status", -1);
	s->started_at = strcmp(record_state(s->record), "running") == 0 ? 1 : 0;
}

static void on_mute(void *data)
{
	struct supervisor *s = data;

	s->init_timer = NULL;
	gate_set_mute(s, "it did not connect to the new supervisor");
}

/* A stop that is on record and not finished is taken up; past its grace SIGKILL at once. */
static void resume_stop(struct supervisor *s)
{
	int64_t kill_at = json_get_int(record_supervision(s->record), "kill_boottime_ms", 0);
	int64_t left = kill_at - clock_boottime_ms();

	if (s->why)
		stop_request(s, s->why, left > 0 ? left : 0);
}

static void on_adopted_init_ended(void *data, uint32_t events)
{
	struct supervisor *s = data;

	(void)events;
	loop_remove(s->init_ended);
	s->init_ended = NULL;
	finish_begin(s);
}

/* The run goes on: pipes, control groups, deadline, and the init's new connection. */
static void go_on(struct supervisor *s, const struct inspection *seen)
{
	auto_error struct error err = ERROR_INIT;

	s->phase = PHASE_RUNNING;
	record_set_state(s->record, "running");
	s->expected_pid = s->init_pid = seen->pid;
	s->init_pidfd = seen->pid > 0 ? (int)syscall(SYS_pidfd_open, seen->pid, 0) : -1;
	if (s->init_pidfd >= 0)
		s->init_ended =
			loop_watch(s->loop, s->init_pidfd, EPOLLIN, on_adopted_init_ended, s);
	if (output_open(&s->output, false, 0, 0, &err) < 0 || gate_make_folder(s, &err) < 0 ||
		gate_listen(s, &err) < 0)
		gate_set_mute(s, err.message);
	else
		s->init_timer = loop_at(s->loop, clock_boottime_ms() + INIT_WAIT_MS, on_mute, s);
	note_crash(s);
	start_watch_cgroup(s);
	supervisor_persist(s, false);
	output_start(&s->output);
	stop_arm_deadline(s);
	resume_stop(s);
	if (s->init_pidfd < 0)
		finish_begin(s);
}

static void end_unstarted(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	error_set(
		&err, ERROR_START_CANCELLED, "the supervisor died before the workload was let go");
	finish_failed(s, "start_failed", &err);
}

static void end_lost(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_LOST,
		"the run ended while nobody watched it, and its container is gone");
	finish_failed(s, "lost", &err);
}

static void ask_again(struct supervisor *s)
{
	if (!record_final(s->record) && strcmp(record_state(s->record), "unknown") != 0) {
		json_object_set_new(record_supervision(s->record), "state_before",
			json_string(record_state(s->record)));
		record_set_state(s->record, "unknown");
		supervisor_persist(s, false);
	}
	s->adopt_wait_ms = s->adopt_wait_ms ? s->adopt_wait_ms * 2 : AGAIN_FIRST_MS;
	if (s->adopt_wait_ms > AGAIN_MAX_MS)
		s->adopt_wait_ms = AGAIN_MAX_MS;
	s->poll_timer = loop_at(s->loop, clock_boottime_ms() + s->adopt_wait_ms, ask, s);
}

static void carry_out(
	struct supervisor *s, enum adopt_verdict verdict, const struct inspection *seen)
{
	auto_error struct error err = ERROR_INIT;

	switch (verdict) {
	case ADOPT_UNKNOWN:
		ask_again(s);
		break;
	case ADOPT_ADOPT:
		/* Values before the first read: without them the workload waits at the pipe. */
		if (supervisor_add_secrets(s, &seen->env, &err) < 0)
			ask_again(s);
		else
			go_on(s, seen);
		break;
	case ADOPT_FINISH:
		s->engine_exit_code = (int)seen->exit_code;
		if (output_open(&s->output, false, 0, 0, &err) == 0 &&
			supervisor_add_secrets(s, &seen->env, &err) == 0)
			note_crash(s);
		s->phase = PHASE_RUNNING;
		finish_begin(s);
		break;
	case ADOPT_ABORT:
		end_unstarted(s);
		break;
	case ADOPT_LOST:
	case ADOPT_LOST_CLEANUP:
		end_lost(s);
		break;
	case ADOPT_CLEANUP:
	case ADOPT_LEAVE:
	case ADOPT_VERDICT_COUNT:
	default:
		s->phase = PHASE_OVER;
		server_close(s);
		finish_remove(s);
		break;
	}
}

static bool engine_answered(const struct engine_answer *answer)
{
	return answer->exit_code == 0 || text_has(answer->stderr_text, "o such container") ||
	       text_has(answer->stderr_text, "no such object") ||
	       text_has(answer->stderr_text, "o such object");
}

static enum adopt_record record_kind(struct supervisor *s)
{
	const char *before = json_get_string(record_supervision(s->record), "state_before");
	const char *state = record_state(s->record);

	if (record_final(s->record))
		return ADOPT_RECORD_TERMINAL;
	if (strcmp(state, "unknown") == 0 && before)
		state = before;
	return strcmp(state, "pending") == 0 ? ADOPT_RECORD_PENDING : ADOPT_RECORD_RUNNING;
}

static void on_inspected(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->inspect_call = NULL;
	bool found = answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0;
	const char *id = supervisor_container_id(s);
	json_t *v = record_supervision(s->record);
	struct adopt_input in = {
		.record = record_kind(s),
		.released = json_get_bool(v, "released", false),
		.boot_id = json_get_text(v, "boot_id"),
		.boot_id_now = text_of(clock_boot_id()),
		.engine_down = !engine_answered(answer),
		.container_found = found,
		.container_ours = found && seen.handle && strcmp(seen.handle, s->run.handle) == 0 &&
				  (!id[0] || strcmp(seen.id, id) == 0),
		.container_status = text_of(seen.status ? seen.status : ""),
	};
	if (!in.boot_id.p)
		in.boot_id = in.boot_id_now;
	carry_out(s, adopt_decide(&in), &seen);
}

static void ask(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	const char *args[] = {"inspect", "--type=container", supervisor_container(s), NULL};

	s->poll_timer = NULL;
	s->inspect_call = supervisor_engine(s, args, INSPECT_TIMEOUT_MS, on_inspected, &err);
	if (!s->inspect_call)
		ask_again(s);
}

void adopt_begin(struct supervisor *s)
{
	s->guest_fd = open(s->plan.guest, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	restore(s);
	ask(s);
}
