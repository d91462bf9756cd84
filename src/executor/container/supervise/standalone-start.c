/*
 * Steps 11-17 of a start whose sandbox has a kernel of its own (container-driver.md §9.2).
 * podman: create, init, judged, released, start. docker: create, mount sources judged, released,
 * start --attach, limits judged. It has started when the engine has a time for that.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/standalone.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"

enum { POLL_MS = 50, UNKNOWN_MS = 1000, WORDS_MAX = 64 << 10 };

bool standalone_start_pending(const struct supervisor *s)
{
	return s->plan.standalone && s->phase == PHASE_RELEASED && !s->adopted;
}

/* The path on the engine line still leads to what was opened when it was judged. */
static int check_source(struct supervisor *s, size_t i, struct error *err)
{
	const struct plan_mount *m = &s->plan.mounts[i];
	auto_free char *made = m->kind == PLAN_MOUNT_MAKE
				       ? mem_printf("%s/%s", s->plan.mounts[0].source, m->source)
				       : NULL;
	struct stat held, found;

	if (fstat(s->mount_fds[i], &held) == 0 && stat(made ? made : m->source, &found) == 0 &&
		file_same(&held, &found))
		return 0;
	return error_set(err, ERROR_MOUNT_CHANGED,
		"the source of the mount at %s is not what was opened when it was judged",
		quoted_string(m->target));
}

static int check_sources(struct supervisor *s, struct error *err)
{
	if (start_step(s, "verify:mounts", err) < 0)
		return -1;
	for (size_t i = 0; i < s->plan.n_mounts; i++)
		if (check_source(s, i, err) < 0)
			return -1;
	return 0;
}

/* What the engine said in the pipes: nothing of the workload has run. */
static void fail_by_pipes(struct supervisor *s, const char *call)
{
	AUTO(str) out = STR_INIT(WORDS_MAX);
	AUTO(str) words = STR_INIT(WORDS_MAX);

	output_take(&s->output, 0, &out);
	output_take(&s->output, 1, &words);
	start_fail_by_words(s, call, (struct text){str_text(&words), words.len},
		(struct text){str_text(&out), out.len});
}

/* True: the start is over, and it was only waited for this answer. */
static bool over(struct supervisor *s)
{
	s->start_call = NULL;
	if (s->phase == PHASE_OVER)
		remove_begin(s);
	return s->phase != PHASE_STARTING && s->phase != PHASE_RELEASED;
}

static void ask(void *data);

static void ask_soon(struct supervisor *s)
{
	s->poll_timer = loop_at(s->loop, clock_boottime_ms() + POLL_MS, ask, s);
}

static void warn_limits_unread(struct supervisor *s)
{
	const struct argv_limits *asked = &s->plan.asked;

	if (asked->cpu_millis > 0 || asked->memory_mb > 0 || asked->pids > 0)
		record_warn(s->record, "limits_unread",
			"the run ended before its limits could be read back");
}

/*
 * Held in `s` if it is there. The engine may call it running a moment after its end, so what is not
 * recognised is asked about again for a while (true).
 */
static bool find_sandbox(struct supervisor *s, const struct inspection *seen)
{
	struct standalone *x = &s->standalone;
	int64_t now = clock_boottime_ms();

	x->unknown |= fault_hit("standalone:unknown");
	standalone_hold_sandbox(s, x->unknown ? 0 : seen->pid);
	if (x->sandbox_fd >= 0 || !seen->running)
		return false;
	if (x->unknown_until == 0)
		x->unknown_until = now + UNKNOWN_MS;
	return now < x->unknown_until;
}

/* Judged on docker only now: its sandbox did not exist before the workload ran. */
static int judge_late(struct supervisor *s, const struct inspection *seen, struct error *err)
{
	if (s->standalone.sandbox_fd < 0 && !seen->running) {
		warn_limits_unread(s);
		return 0;
	}
	/* Of a process that is not known no limit is held. */
	if (s->standalone.sandbox_fd >= 0)
		start_watch_cgroup(s);
	if (start_check_limits(s, err) < 0 || network_joined(s, err) < 0)
		return -1;
	disk_begin(s);
	return 0;
}

static void started(struct supervisor *s, const struct inspection *seen)
{
	auto_error struct error err = ERROR_INIT;

	if (!standalone_is_podman(s) && find_sandbox(s, seen)) {
		ask_soon(s);
		return;
	}
	if (!standalone_is_podman(s) && judge_late(s, seen, &err) < 0) {
		start_fail(s, &err);
		return;
	}
	start_stop_waiting(s);
	start_free_slot(s);
	if (s->standalone.words)
		start_warn(s, text_of(s->standalone.words));
	output_start(&s->output);
	start_on_started(s);
	stop_resume(s);
	standalone_watch(s);
}

/* The engine's `start` is through, and the workload never ran. */
static void never_started(struct supervisor *s)
{
	json_object_set_new(record_supervision(s->record), "released", json_false());
	if (standalone_is_podman(s))
		start_fail_by_words(s, "start", text_of(s->standalone.words), TEXT(""));
	else
		fail_by_pipes(s, "start");
}

static void on_inspected(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->start_inspect = NULL;
	bool known = answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0;
	bool failed =
		standalone_is_podman(s) ? s->standalone.words != NULL : s->standalone.writer_gone;
	if (known && inspect_has_started(&seen))
		started(s, &seen);
	else if (failed && (known ? !seen.running : inspect_says_unknown(answer->stderr_text)))
		never_started(s);
	else
		ask_soon(s);
}

static void ask(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->poll_timer = NULL;
	s->start_inspect = supervisor_inspect(s, on_inspected, &err);
	if (!s->start_inspect)
		start_fail(s, &err);
}

static void on_podman_started(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	if (over(s))
		return;
	if (answer->exit_code != 0)
		s->standalone.words = mem_strndup(answer->stderr_text.p, answer->stderr_text.len);
	ask(s);
}

static int go_podman(struct supervisor *s, struct error *err)
{
	const char *args[] = {"start", supervisor_container(s), NULL};

	s->start_call =
		supervisor_engine(s, args, 2 * s->plan.start_timeout_ms, on_podman_started, err);
	return s->start_call ? 0 : -1;
}

static int go_docker(struct supervisor *s, struct error *err)
{
	const char *args[] = {"start", "--attach", supervisor_container(s), NULL};

	return standalone_attach(s, args, err);
}

/* What the engine printed into the pipes until now is none of the workload's. */
static void forget_words(struct supervisor *s)
{
	AUTO(str) words = STR_INIT(1);

	for (size_t i = 0; i < OUTPUT_STREAMS; i++)
		output_take(&s->output, i, &words);
}

static void release_podman(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (start_step(s, "start:12-init", &err) == 0 && standalone_hold_monitor(s, &err) == 0 &&
		check_sources(s, &err) == 0) {
		start_watch_cgroup(s);
		forget_words(s);
		if (start_check_limits(s, &err) == 0 && network_joined(s, &err) == 0 &&
			start_release(s, go_podman, &err) == 0) {
			output_start(&s->output);
			return;
		}
	}
	start_fail(s, &err);
}

static void on_initialized(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	if (over(s))
		return;
	s->start_killed = answer->exit_code < 0;
	if (answer->exit_code != 0)
		fail_by_pipes(s, "init");
	else
		release_podman(s);
}

/* The sandbox is made, with the FIFOs as the workload's output; nothing of the workload runs. */
static int initialize(struct supervisor *s, struct error *err)
{
	const char *args[] = {"init", supervisor_container(s), NULL};

	s->start_call = standalone_engine_into_pipes(s, args, on_initialized, err);
	return s->start_call ? 0 : -1;
}

static int release_docker(struct supervisor *s, struct error *err)
{
	if (check_sources(s, err) < 0 || start_release(s, go_docker, err) < 0)
		return -1;
	ask_soon(s);
	return 0;
}

void standalone_start_created(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	if (over(s))
		return;
	if (answer->exit_code != 0) {
		s->start_killed = answer->exit_code < 0;
		start_fail_by_words(s, "create", answer->stderr_text, answer->out);
	} else if ((standalone_is_podman(s) ? initialize(s, &err) : release_docker(s, &err)) < 0) {
		start_fail(s, &err);
	}
}
