/*
 * Taking over a run whose supervisor died (container-driver.md §16.2). The engine is asked once
 * what it knows of the container; decisions/lifecycle.h says what follows from that and the record.
 * While the engine does not answer the run's state is `unknown` and it is asked again; what people
 * ask of the run meanwhile is kept (stop.c).
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/decisions/lifecycle.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/attach-exec.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/orphan.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/container/supervise/verify.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"

enum { INIT_WAIT_MS = 10000, MASKS_FOR_MS = 60000 };

static void ask(void *data);

static void note_crash(struct supervisor *s)
{
	supervisor_note(s,
		"the supervisor of this run died and was replaced; at most one read of each "
		"stream may be missing");
}

/* What the dead supervisor put on record about signals, requests and the end. */
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
	s->confirmed = json_get_bool(v, "confirmed", false);
}

static void on_mute(void *data)
{
	struct supervisor *s = data;

	s->init_timer = NULL;
	gate_set_mute(s, "it did not connect to the new supervisor");
}

static bool has_variable(const struct strv *env, const char *name)
{
	size_t n = strlen(name);

	strv_foreach (entry, env)
		if (strncmp(*entry, name, n) == 0 && (*entry)[n] == '=')
			return true;
	return false;
}

/*
 * Values before the first read: without all of them nothing is read, and the workload waits at the
 * pipe. 1: some are not there.
 */
static int restore_secrets(struct supervisor *s, const struct strv *env, struct error *err)
{
	bool told = true;

	strv_foreach (name, &s->plan.redact)
		told = told && has_variable(env, *name);
	if (mask_variables(s, env, err) < 0 || egress_mask(s, env, err) < 0)
		return -1;
	int r = lease_restore(s, err);
	return r == 0 ? !told : r;
}

/* Its init, or what stands for it: false when there is none any more. */
static bool hold_sandbox(struct supervisor *s, const struct inspection *seen)
{
	if (s->plan.standalone)
		return standalone_adopt(s, seen);
	if (seen->pid > 0 && gate_hold_init(s, seen->pid) == 0 &&
		verify_adopted(seen->pid, supervisor_container_id(s)))
		s->expected_pid = seen->pid;
	return s->expected_pid > 0;
}

static void listen_for_init(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (gate_make_folder(s, &err) < 0 || gate_listen(s, &err) < 0)
		gate_set_mute(s, err.message);
	else
		s->init_timer = loop_at(s->loop, clock_boottime_ms() + INIT_WAIT_MS, on_mute, s);
}

/* The run goes on: pipes, control groups, deadline, and the init's new connection. */
static void go_on(struct supervisor *s, const struct inspection *seen)
{
	s->phase = s->confirmed ? PHASE_RUNNING : PHASE_RELEASED;
	record_set_state(s->record, "running");
	note_crash(s);
	bool held = hold_sandbox(s, seen);
	supervisor_persist(s, false);
	fault_hit("adopt:go-on");
	if (!held) {
		/* podman goes on calling it running when its monitor is dead (§11.1). */
		gate_release_init(s);
		finish_begin(s);
		return;
	}
	interfaces_restore(s);
	network_adopt(s);
	start_watch_cgroup(s);
	output_start(&s->output);
	if (s->plan.standalone)
		attach_exec_adopt(s);
	else
		listen_for_init(s);
	fault_hit("adopt:listen");
	egress_restore(s);
	stop_arm_deadline(s);
	extend_begin(s);
	stop_resume(s);
	disk_begin(s);
	floor_begin(s, seen->status && strcmp(seen->status, "paused") == 0);
}

/*
 * It ended while nobody watched, and its init has waited in vain: what was in the pipes then is
 * gone with it.
 */
static void wind_up(struct supervisor *s, const struct inspection *seen)
{
	note_crash(s);
	if (s->wait_status < 0 && !s->unread)
		log_writer_gap(s->output.log, clock_realtime_ns(), LOG_LOST_UNKNOWN);
	s->engine_exit_code = (int)seen->exit_code;
	/* There is no init that could have ended with a code of its own before the workload ran. */
	if (s->plan.standalone && inspect_has_started(seen))
		s->confirmed = true;
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

	/* The init had said how it ended. */
	if (s->wait_status >= 0) {
		finish_begin(s);
		return;
	}
	/* What was in the pipes then is gone with it. */
	if (json_get_bool(record_supervision(s->record), "released", false)) {
		note_crash(s);
		log_writer_gap(s->output.log, clock_realtime_ns(), LOG_LOST_UNKNOWN);
	}
	error_set(&err, ERROR_LOST, "%s",
		record_rebuilt(s->record)
			? RECORD_REBUILT_LOST
			: "the run ended while nobody watched it, and its container is gone");
	finish_failed(s, "lost", &err);
}

/* Somebody took them away, and may bring them back; but a run must end when it has to. */
static bool waits_for_masks(struct supervisor *s)
{
	int64_t now = clock_boottime_ms();
	int64_t deadline = json_get_int(record_supervision(s->record), "deadline_boottime_ms", 0);

	if (s->masks_until == 0)
		s->masks_until = now + (fault_hit("adopt:no-masks") ? 0 : MASKS_FOR_MS);
	return now < s->masks_until && !s->why && (deadline == 0 || now < deadline);
}

/* All the rest goes on: stops, its time limit, its lease, and its end. */
static void leave_output(struct supervisor *s)
{
	s->unread = true;
	log_writer_gap(s->output.log, clock_realtime_ns(), LOG_LOST_UNKNOWN);
	record_warn(s->record, "output_unread",
		"values of secrets that have to be masked are gone: what the run prints is not "
		"read any more, and it may wait for that");
}

/* Pipes and patterns come first: 0, or it was put off. */
static int take_output(struct supervisor *s, const struct inspection *seen)
{
	auto_error struct error err = ERROR_INIT;

	int r = restore_secrets(s, &seen->env, &err);
	if (r == 0 && output_open(&s->output, false, 0, 0, &err) == 0)
		return 0;
	if (r > 0 && !waits_for_masks(s)) {
		leave_output(s);
		return 0;
	}
	log_warning("%s", r > 0 ? "secrets that have to be masked are not there" : err.message);
	supervisor_ask_later(s, ask);
	return -1;
}

static void carry_out(
	struct supervisor *s, const struct adopt_input *in, const struct inspection *seen)
{
	switch (adopt_decide(in)) {
	case ADOPT_UNKNOWN:
		supervisor_ask_later(s, ask);
		break;
	case ADOPT_ADOPT:
		if (take_output(s, seen) == 0)
			go_on(s, seen);
		break;
	case ADOPT_FINISH:
		if (take_output(s, seen) == 0)
			wind_up(s, seen);
		break;
	case ADOPT_ABORT:
		end_unstarted(s);
		break;
	case ADOPT_LOST:
	case ADOPT_LOST_CLEANUP:
		end_lost(s);
		break;
	case ADOPT_CLEANUP:
		interfaces_return(s);
		lease_wipe(s);
		finish_over(s);
		remove_begin(s);
		break;
	case ADOPT_LEAVE:
	case ADOPT_VERDICT_COUNT:
	default:
		interfaces_return(s);
		lease_wipe(s);
		/* Without an answer its files stay: they tell the next one what is left. */
		finish_over(s);
		if (in->engine_down)
			loop_stop(s->loop);
		else
			remove_rest(s);
		break;
	}
}

static enum adopt_record record_kind(struct supervisor *s)
{
	if (record_final(s->record))
		return ADOPT_RECORD_TERMINAL;
	return strcmp(supervisor_state(s), "pending") == 0 ? ADOPT_RECORD_PENDING
							   : ADOPT_RECORD_RUNNING;
}

static void on_inspected(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->inspect_call = NULL;
	bool found = answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0;
	bool none = answer->exit_code > 0 && inspect_says_unknown(answer->stderr_text);
	const char *id = supervisor_container_id(s);
	json_t *v = record_supervision(s->record);
	struct adopt_input in = {
		.record = record_kind(s),
		.released = json_get_bool(v, "released", false),
		.boot_id = json_get_text(v, "boot_id"),
		.boot_id_now = text_of(clock_boot_id()),
		.engine_down = !found && !none,
		.container_found = found,
		.container_ours = found && seen.handle && strcmp(seen.handle, s->run.handle) == 0 &&
				  (!id[0] || strcmp(seen.id, id) == 0),
		.container_status = text_of(seen.status ? seen.status : ""),
	};
	if (!in.boot_id.p)
		in.boot_id = in.boot_id_now;
	/* Whatever goes on in it, it is ended; but without a record and a container nothing was. */
	enum record_rebuilt rebuilt = record_rebuilt(s->record);
	if (rebuilt == RECORD_WAS_DAMAGED || (rebuilt && found))
		in.boot_id = TEXT("");
	s->not_ours = found && !in.container_ours;
	if (!in.engine_down)
		supervisor_known(s);
	fault_hit("adopt:asked");
	carry_out(s, &in, &seen);
}

static void ask(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->poll_timer = NULL;
	s->inspect_call = supervisor_inspect(s, on_inspected, &err);
	if (!s->inspect_call)
		supervisor_ask_later(s, ask);
}

/* A start that was not let go is given up: its client, if one still works, first of all. */
static void end_orphan(void *data)
{
	struct supervisor *s = data;

	s->poll_timer = NULL;
	if (orphan_works(s, SIGTERM))
		s->poll_timer =
			loop_at(s->loop, clock_boottime_ms() + ORPHAN_EVERY_MS, end_orphan, s);
	else
		ask(s);
}

void adopt_begin(struct supervisor *s)
{
	s->guest_fd = open(s->plan.guest, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	restore(s);
	fault_hit("adopt:ask");
	if (json_get_bool(record_supervision(s->record), "released", false))
		ask(s);
	else
		end_orphan(s);
}
