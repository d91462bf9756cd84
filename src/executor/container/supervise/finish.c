/*
 * The end of a run (container-driver.md §13.4): pipes drained, classified, final record, `end`
 * frame - here the callers are answered -, and only then (remove.c) the container is removed.
 */
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/revoke.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/rundir/record-end.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

enum { INSPECT_EVERY_MS = 100, INSPECT_FOR_MS = 5000, EXIT_SIGKILL = 137 };

void finish_read_usage(struct supervisor *s)
{
	if (!s->cgroup_ours)
		return;
	int64_t kills = cgroup_oom_kills(&s->cgroup);
	int64_t cpu = cgroup_cpu_ms(&s->cgroup), peak = cgroup_memory_peak(&s->cgroup);
	if (kills > s->oom_kills)
		s->oom_kills = kills;
	if (cpu >= 0)
		s->cpu_ms = cpu;
	if (peak >= 0)
		s->memory_peak = peak;
}

static void record_usage(struct supervisor *s)
{
	json_t *usage = json_object_get(s->record, "usage");
	int64_t since = json_get_int(record_supervision(s->record), "released_boottime_ms", -1);

	if (s->confirmed && since >= 0)
		json_object_set_new(usage, "wall_ms", json_integer(clock_boottime_ms() - since));
	json_object_set_new(usage, "cpu_ms", json_from_count(s->cpu_ms));
	json_object_set_new(usage, "memory_peak_bytes", json_from_count(s->memory_peak));
}

/* §7.2: what a sandbox put where the project's own tools look for instructions. */
static void warn_created(struct supervisor *s)
{
	AUTO(strv) created = STRV_INIT(16);

	strv_foreach (path, &s->plan.absent) {
		auto_free char *full = mem_printf("%s/%s", s->plan.project, *path);
		if (faccessat(AT_FDCWD, full, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			strv_add(&created, *path);
	}
	if (created.n == 0)
		return;
	auto_free char *list = strv_join(&created, ", ");
	record_warn(s->record, "project_control_file_created", "the run made %s", list);
}

void finish_over(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (!log_writer_stats(s->output.log).ended &&
		log_writer_end(s->output.log, clock_realtime_ns(), &err) < 0)
		log_warning("%s", err.message);
	s->phase = PHASE_OVER;
	fault_hit("finish:ended");
	/* One who waits for a run that ended before `started` was heard; a failed start has its
	 * own. */
	if (s->failure.code == ERROR_NONE)
		start_answer(s);
	server_shut(s);
	/* After the answer: a power cut before leaves the record before the last, nothing broken.
	 */
	if (file_sync_dir(s->run.fd, &err) < 0)
		log_warning("%s", err.message);
}

/* Nobody is waited for any more, and nothing else will change the record. */
static void stop_watching(struct supervisor *s)
{
	s->phase = PHASE_ENDING;
	loop_remove(s->init_ended);
	loop_remove(s->init_timer);
	loop_remove(s->poll_timer);
	s->init_ended = s->init_timer = s->poll_timer = NULL;
	gate_unlisten(s);
	gate_disconnect(s);
	standalone_release(s);
	attach_on_run_end(s);
	extend_end(s);
	egress_end(s);
	disk_end(s);
	floor_end(s);
	floor_forget(s);
	guard_end(s);
	interfaces_return(s);
}

/* How it ended is known here alone until it is on record: only then is the container removed. */
static void write_end(void *data)
{
	struct supervisor *s = data;

	s->poll_timer = NULL;
	if (record_end_write(&s->run, s->record) == 1) {
		s->poll_timer =
			loop_at(s->loop, clock_boottime_ms() + RECORD_END_AGAIN_MS, write_end, s);
		return;
	}
	fault_hit("finish:end");
	finish_over(s);
	fault_hit("finish:remove");
	remove_begin(s);
}

/* Everything that makes the record final, in the order of §13.4. */
static void conclude(struct supervisor *s)
{
	stop_cleanup(s);
	record_usage(s);
	record_end_log(s->record, log_writer_stats(s->output.log));
	warn_created(s);
	fault_hit("finish:stage");
	lease_wipe(s);
	record_set_time(s->record, "finished_at", clock_realtime_ns());
	fault_hit("finish:record");
	rundir_release(&s->run);
	write_end(s);
}

void finish_failed(struct supervisor *s, const char *outcome, const struct error *err)
{
	stop_watching(s);
	output_finish(&s->output);
	lease_drained(s);
	record_end_failure(s->record, outcome, err);
	conclude(s);
}

static enum stop_why why_of(const struct supervisor *s)
{
	int why = s->why ? stop_why_from_text(text_of(s->why)) : -1;

	return why < 0 ? STOP_NONE : (enum stop_why)why;
}

/*
 * A supervisor that died between its SIGKILL and the note of it: the init, which nothing inside can
 * kill, was killed after the request of that kill was on record.
 */
static bool killed_unnoted(const struct supervisor *s)
{
	int64_t kill_at =
		json_get_int(record_supervision(s->record), "kill_boottime_ms", INT64_MAX);

	return s->adopted && s->why && s->wait_status < 0 && s->oom_kills <= 0 &&
	       s->engine_exit_code == EXIT_SIGKILL && kill_at <= clock_boottime_ms();
}

static void end_run(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	finish_read_usage(s);
	output_finish(&s->output);
	lease_drained(s);
	fault_hit("finish:drained");
	struct classify_input in = CLASSIFY_INPUT_INIT;
	in.wait_status = s->wait_status;
	in.engine_knows = s->engine_knows;
	in.exit_code = s->engine_exit_code;
	in.oom_kills = s->oom_kills;
	in.request = why_of(s);
	in.delivered = s->why_delivered || killed_unnoted(s);
	in.interrupt_sent = s->interrupt_sent;
	in.terminate_sent = s->terminate_sent;
	in.confirmed = s->confirmed;
	struct classify_result r = classify(&in);
	if (r.outcome == OUTCOME_LOST) {
		error_set(&err, ERROR_LOST,
			"nobody knows how the run ended: neither its init nor %s said so",
			engine_text(s->plan.runtime.engine));
		finish_failed(s, "lost", &err);
		return;
	}
	record_end_result(s->record, &r);
	disk_conclude(s, r.outcome);
	floor_conclude(s, r.outcome);
	conclude(s);
}

static void ask_engine(void *data);

/* 1: it is known how it ended, or that nobody knows; 0: it still runs; -1: no answer. */
static int take_answer(struct supervisor *s, const struct engine_answer *answer)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	if (answer->exit_code != 0) {
		s->engine_knows = !inspect_says_unknown(answer->stderr_text);
		return s->engine_knows ? -1 : 1;
	}
	if (inspect_parse(answer->out, &seen, &err) < 0)
		return -1;
	if (seen.running)
		return 0;
	s->engine_exit_code = (int)seen.exit_code;
	/* Docker's flag is also true for a child of a task that exits 0: only without a counter. */
	if (!s->cgroup_ours && seen.oom_killed && s->oom_kills == 0)
		s->oom_kills = 1;
	return 1;
}

static void on_inspected(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->inspect_call = NULL;
	int known = take_answer(s, answer);
	if (known < 0) {
		supervisor_ask_later(s, ask_engine);
		return;
	}
	supervisor_known(s);
	if (s->inspect_until == 0)
		s->inspect_until = clock_boottime_ms() + INSPECT_FOR_MS;
	if (known || clock_boottime_ms() >= s->inspect_until)
		end_run(s);
	else
		s->poll_timer =
			loop_at(s->loop, clock_boottime_ms() + INSPECT_EVERY_MS, ask_engine, s);
}

static void ask_engine(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->poll_timer = NULL;
	s->inspect_call = supervisor_inspect(s, on_inspected, &err);
	if (!s->inspect_call)
		supervisor_ask_later(s, ask_engine);
}

void finish_begin(struct supervisor *s)
{
	if (s->phase == PHASE_ENDING || s->phase == PHASE_OVER || stop_holds_up_end(s))
		return;
	stop_watching(s);
	stop_cleanup(s);
	fault_hit("finish:begin");
	if (s->wait_status >= 0)
		end_run(s);
	else
		ask_engine(s);
}
