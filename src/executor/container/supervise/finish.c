/*
 * The end of a run (container-driver.md §13.4): pipes drained, classified, final record, `end`
 * frame - here the callers are answered -, and only then the container is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/failure.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/rundir/record-end.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/log.h"

enum {
	INSPECT_EVERY_MS = 100,
	INSPECT_FOR_MS = 5000,
	INSPECT_TIMEOUT_MS = 30000,
	REMOVE_TIMEOUT_MS = 60000,
	REMOVE_AGAIN_MS = 1000,
	REMOVE_ATTEMPTS = 2,
	LOOKUP_EVERY_MS = 250,
	LOOKUP_FOR_MS = 3000,
};

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

static json_t *number_or_null(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

static void record_usage(struct supervisor *s)
{
	json_t *usage = json_object_get(s->record, "usage");
	int64_t started = json_get_int(record_supervision(s->record), "started_boottime_ms", -1);

	json_object_set_new(
		usage, "wall_ms", number_or_null(started < 0 ? -1 : clock_boottime_ms() - started));
	json_object_set_new(usage, "cpu_ms", number_or_null(s->cpu_ms));
	json_object_set_new(usage, "memory_peak_bytes", number_or_null(s->memory_peak));
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

/* Everything that makes the record final, in the order of §13.4. */
static void conclude(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	stop_cleanup(s);
	record_usage(s);
	record_end_log(s->record, log_writer_stats(s->output.log));
	warn_created(s);
	record_set_time(s->record, "finished_at", clock_realtime_ns());
	fault_hit("finish:record");
	supervisor_persist(s, true);
	fault_hit("finish:end");
	if (log_writer_end(s->output.log, clock_realtime_ns(), &err) < 0)
		log_warning("%s", err.message);
	s->phase = PHASE_OVER;
	server_close(s);
	fault_hit("finish:remove");
	finish_remove(s);
}

void finish_failed(struct supervisor *s, const char *outcome, const struct error *err)
{
	s->phase = PHASE_ENDING;
	loop_remove(s->init_ended);
	loop_remove(s->init_timer);
	s->init_ended = s->init_timer = NULL;
	gate_unlisten(s);
	output_finish(&s->output);
	record_end_failure(s->record, outcome, err);
	conclude(s);
}

static enum stop_why why_of(const struct supervisor *s)
{
	int why = s->why ? stop_why_from_text(text_of(s->why)) : -1;

	return why < 0 ? STOP_NONE : (enum stop_why)why;
}

static void end_run(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	finish_read_usage(s);
	output_finish(&s->output);
	struct classify_input in = CLASSIFY_INPUT_INIT;
	in.wait_status = s->wait_status;
	in.engine_knows = s->engine_knows;
	in.exit_code = s->engine_exit_code;
	in.oom_kills = s->oom_kills;
	in.request = why_of(s);
	in.delivered = s->why_delivered;
	in.interrupt_sent = s->interrupt_sent;
	in.terminate_sent = s->terminate_sent;
	in.confirmed = s->started_at > 0 || s->phase == PHASE_RUNNING ||
		       strcmp(record_state(s->record), "running") == 0;
	struct classify_result r = classify(&in);
	if (r.outcome == OUTCOME_LOST) {
		error_set(&err, ERROR_LOST,
			"nobody knows how the run ended: neither its init nor %s said so",
			engine_text(s->plan.runtime.engine));
		finish_failed(s, "lost", &err);
		return;
	}
	record_end_result(s->record, &r);
	conclude(s);
}

static void ask_engine(void *data);

static void on_inspected(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->inspect_call = NULL;
	if (answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0) {
		if (!seen.running) {
			s->engine_exit_code = (int)seen.exit_code;
			if (!s->cgroup_ours && seen.oom_killed)
				s->oom_kills = s->oom_kills ? s->oom_kills : 1;
			end_run(s);
			return;
		}
	} else if (text_has(answer->stderr_text, "o such container") ||
		   text_has(answer->stderr_text, "no such object")) {
		s->engine_knows = false;
		end_run(s);
		return;
	}
	if (clock_boottime_ms() >= s->inspect_until) {
		end_run(s);
		return;
	}
	s->poll_timer = loop_at(s->loop, clock_boottime_ms() + INSPECT_EVERY_MS, ask_engine, s);
}

static void ask_engine(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	const char *args[] = {"inspect", "--type=container", supervisor_container(s), NULL};

	s->poll_timer = NULL;
	s->inspect_call = supervisor_engine(s, args, INSPECT_TIMEOUT_MS, on_inspected, &err);
	if (!s->inspect_call)
		end_run(s);
}

void finish_begin(struct supervisor *s)
{
	if (s->phase == PHASE_ENDING || s->phase == PHASE_OVER)
		return;
	s->phase = PHASE_ENDING;
	gate_unlisten(s);
	gate_disconnect(s);
	fault_hit("finish:begin");
	if (s->wait_status >= 0) {
		end_run(s);
		return;
	}
	s->inspect_until = clock_boottime_ms() + INSPECT_FOR_MS;
	ask_engine(s);
}

/* The run's own files that only a live run needs; then the lock is free. */
static void clean_directory(struct supervisor *s)
{
	static const char *const files[] = {
		"stdout.fifo", "stderr.fifo", "hosts", "resolv.conf", "cid"};
	auto_error struct error err = ERROR_INIT;

	gate_unlisten(s);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlinkat(s->run.fd, files[i], 0);
	if (file_remove_tree_at(s->run.fd, "ctl", &err) < 0)
		log_warning("%s", err.message);
	control_unlink(&s->home, s->run.handle);
	loop_stop(s->loop);
}

static void remove_again(void *data)
{
	struct supervisor *s = data;

	s->poll_timer = NULL;
	finish_remove(s);
}

static bool nothing_there(struct text words)
{
	return text_has(words, "o such container") || text_has(words, "no container with");
}

static void on_removed(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->remove_call = NULL;
	if (answer->exit_code == 0 || nothing_there(answer->stderr_text)) {
		clean_directory(s);
		return;
	}
	/* After the death of conmon the first `rm` of podman 4.3.1 fails, the second works. */
	if (++s->remove_attempts < REMOVE_ATTEMPTS) {
		s->poll_timer =
			loop_at(s->loop, clock_boottime_ms() + REMOVE_AGAIN_MS, remove_again, s);
		return;
	}
	AUTO(str) words = STR_INIT(8192);
	text_escape(&words, answer->stderr_text, FAILURE_QUOTE_BYTES_MAX);
	record_warn(s->record, "container_left", "the container could not be removed: %s",
		str_text(&words));
	supervisor_persist(s, true);
	clean_directory(s);
}

static void remove_container(struct supervisor *s, const char *what)
{
	auto_error struct error err = ERROR_INIT;
	const char *podman[] = {"rm", "--force", "--time=0", "--volumes", what, NULL};
	const char *docker[] = {"rm", "--force", "--volumes", what, NULL};
	const char *const *args = s->plan.runtime.engine == ENGINE_PODMAN ? podman : docker;

	s->remove_call = supervisor_engine(s, args, REMOVE_TIMEOUT_MS, on_removed, &err);
	if (!s->remove_call) {
		log_warning("%s", err.message);
		clean_directory(s);
	}
}

/* Without an id only a container that carries our handle is ours: the holder of a name survives. */
static void on_looked_up(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->inspect_call = NULL;
	if (answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0 && seen.handle &&
		strcmp(seen.handle, s->run.handle) == 0)
		remove_container(s, seen.id);
	else if (clock_boottime_ms() < s->lookup_until)
		s->poll_timer =
			loop_at(s->loop, clock_boottime_ms() + LOOKUP_EVERY_MS, remove_again, s);
	else
		clean_directory(s);
}

void finish_remove(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	const char *id = supervisor_container_id(s);
	const char *args[] = {"inspect", "--type=container", s->plan.container_name, NULL};

	/* The client of the start has not answered yet: it holds the container's lock. */
	if (s->remove_call || s->inspect_call || s->start_call)
		return;
	if (id[0]) {
		remove_container(s, id);
		return;
	}
	if (s->called_at == 0 && !s->adopted) {
		clean_directory(s);
		return;
	}
	/* docker goes on making a container whose client was killed: it may come a moment later. */
	if (s->lookup_until == 0)
		s->lookup_until = clock_boottime_ms() + (s->start_killed ? LOOKUP_FOR_MS : 0);
	s->inspect_call = supervisor_engine(s, args, INSPECT_TIMEOUT_MS, on_looked_up, &err);
	if (!s->inspect_call)
		clean_directory(s);
}
