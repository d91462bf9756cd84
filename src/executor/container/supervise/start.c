/*
 * The start of a run, from the files of its directory to `go` (container-driver.md §9.1, steps
 * 7-17). Every step either succeeds or ends in start_fail(), which gives the run its final record
 * and removes what was made. Fault points are named after the steps.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/failure.h"
#include "executor/container/init/init-exec.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/devices.h"
#include "executor/container/supervise/make-source.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/supervisor.h"
#include "executor/container/supervise/verify.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"

enum {
	SLOT_RETRY_MS = 10,
	SLOT_RETRY_MAX_MS = 50,
	INIT_POLL_MS = 250,
	SLOTS_MIN = 2,
	SLOTS_MAX = 8,
	CLIENT_GRACE_MS = 2000,
	OOM_COUNT_MS = 20,
	VERIFY_FINE_MAX = 512,
};

/* Our end stays open for reading: a caller who goes away, or shuts its end down, cancels. */
static bool caller_gone(const struct supervisor *s)
{
	struct pollfd p = {.fd = s->caller_fd, .events = POLLRDHUP};

	return s->caller_fd >= 0 && poll(&p, 1, 0) > 0;
}

/* Between two steps: where a test breaks in, and where a cancel is looked for. */
int start_step(struct supervisor *s, const char *point, struct error *err)
{
	if (fault_hit(point))
		return error_set(err, ERROR_SHIM_FAILED, "fault injected at %s", point);
	if (caller_gone(s))
		return error_set(err, ERROR_START_CANCELLED,
			"the start was cancelled: its caller went away");
	return 0;
}

static void answer_caller(struct supervisor *s, const json_t *answer)
{
	auto_free char *text = json_write(answer);

	if (s->caller_fd < 0)
		return;
	(void)!send(s->caller_fd, text, strlen(text), MSG_NOSIGNAL);
	loop_remove(s->caller);
	s->caller = NULL;
	close(s->caller_fd);
	s->caller_fd = -1;
}

void start_answer(struct supervisor *s)
{
	auto_json *ok = json_pack("{s:b, s:s}", "ok", 1, "handle", s->run.handle);

	answer_caller(s, ok);
}

/* No timer, and no question about an init that has not come. */
void start_stop_waiting(struct supervisor *s)
{
	loop_remove(s->start_timer);
	loop_remove(s->poll_timer);
	s->start_timer = s->poll_timer = NULL;
	engine_call_cancel(s->start_inspect);
	s->start_inspect = NULL;
}

void start_free_slot(struct supervisor *s)
{
	if (s->slot_fd >= 0)
		close(s->slot_fd);
	s->slot_fd = -1;
}

static void close_mounts(struct supervisor *s)
{
	for (size_t i = 0; i < PLAN_MOUNTS_MAX; i++) {
		if (s->mount_fds[i] >= 0)
			close(s->mount_fds[i]);
		s->mount_fds[i] = -1;
	}
}

void start_cleanup(struct supervisor *s)
{
	start_stop_waiting(s);
	loop_remove(s->caller);
	s->caller = NULL;
	engine_call_cancel(s->start_call);
	s->start_call = NULL;
	start_free_slot(s);
	if (s->caller_fd >= 0)
		close(s->caller_fd);
	s->caller_fd = -1;
	close_mounts(s);
}

/*
 * The client may be in the middle of its work. Where the init came, it is as good as done; else it
 * is told to end. Its answer is waited for before the container is removed.
 */
static void end_client(struct supervisor *s)
{
	if (!s->start_call)
		return;
	s->start_killed = s->init_pid == 0;
	engine_call_end(s->start_call, s->start_killed ? SIGTERM : 0, CLIENT_GRACE_MS);
}

void start_fail(struct supervisor *s, struct error *err)
{
	if (s->phase != PHASE_STARTING && s->phase != PHASE_RELEASED)
		return;
	s->phase = PHASE_ENDING;
	error_move(&s->failure, err);
	mask_error(s, &s->failure);
	start_stop_waiting(s);
	close_mounts(s);
	gate_unlisten(s);
	gate_disconnect(s);
	end_client(s);
	auto_json *envelope = error_to_json(&s->failure);
	finish_failed(s, "start_failed", &s->failure);
	answer_caller(s, envelope);
}

/* From `go` on the run has begun: it is no start any more that could be cancelled. */
static void on_caller_gone(void *data, uint32_t events)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	(void)events;
	loop_remove(s->caller);
	s->caller = NULL;
	if (s->phase != PHASE_STARTING)
		return;
	error_set(&err, ERROR_START_CANCELLED, "the start was cancelled: its caller went away");
	start_fail(s, &err);
}

/* A file of the run directory that is mounted; its descriptor for the comparison. */
static int make_file(
	struct supervisor *s, const char *name, const char *text, int *ret_fd, struct error *err)
{
	if (file_replace_at(s->run.fd, name, 0644, text_of(text), false, err) < 0)
		return -1;
	*ret_fd = openat(s->run.fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? error_set_errno(err, ERROR_HOME_UNUSABLE, errno, "opening %s", name)
			   : 0;
}

static int open_guest(struct supervisor *s, struct error *err)
{
	struct stat st;

	s->guest_fd = open(s->plan.guest, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (s->guest_fd < 0 || fstat(s->guest_fd, &st) < 0)
		return error_set_errno(
			err, ERROR_GUEST_UNUSABLE, errno, "opening %s", s->plan.guest);
	if (st.st_uid != geteuid() || (st.st_mode & 07777) != 0755 || !S_ISREG(st.st_mode))
		return error_set(
			err, ERROR_GUEST_UNUSABLE, "%s is not as it was installed", s->plan.guest);
	return 0;
}

static int open_mount(struct supervisor *s, size_t i, struct error *err)
{
	const struct plan_mount *m = &s->plan.mounts[i];

	switch (m->kind) {
	case PLAN_MOUNT_GIVEN:
		return s->mount_fds[i] >= 0
			       ? 0
			       : error_set(err, ERROR_SHIM_FAILED, "a mount was not handed over");
	case PLAN_MOUNT_MAKE:
		return make_source(s->mount_fds[0], m->source, &s->mount_fds[i], err);
	case PLAN_MOUNT_GUEST:
		s->mount_fds[i] = dup(s->guest_fd);
		return 0;
	case PLAN_MOUNT_CTL:
		s->mount_fds[i] = dup(s->ctl_fd);
		return 0;
	case PLAN_MOUNT_HOSTS:
		return make_file(s, "hosts", s->plan.hosts, &s->mount_fds[i], err);
	case PLAN_MOUNT_RESOLV:
		return make_file(s, "resolv.conf", "", &s->mount_fds[i], err);
	case PLAN_MOUNT_STAGE:
		s->mount_fds[i] = dup(s->lease.stage.fd);
		return 0;
	case PLAN_MOUNT_KIND_COUNT:
	default:
		return error_set(err, ERROR_INTERNAL, "an unknown kind of mount");
	}
}

static void warn_of_network(struct supervisor *s)
{
	struct plan_network_warning list[PLAN_NETWORK_WARNINGS_MAX];
	size_t n = plan_network_warnings(&s->plan.network, s->plan.egress.present, list);

	for (size_t i = 0; i < n; i++)
		record_warn(s->record, list[i].code, "%s", list[i].message);
}

/* Steps 9 and 10: everything that the engine line names exists afterwards. */
static int make_files(struct supervisor *s, struct error *err)
{
	const struct plan *p = &s->plan;

	if (egress_listen_configured(s, err) < 0)
		return -1;
	warn_of_network(s);
	if (start_step(s, "start:9-files", err) < 0 || open_guest(s, err) < 0)
		return -1;
	if (rundir_reserve(&s->run, err) < 0)
		return -1;
	if (output_open(&s->output, !p->runtime.rootless, p->uid, p->gid, err) < 0)
		return -1;
	if (p->standalone && p->runtime.rootless && output_share(&s->output, err) < 0)
		return -1;
	if (!p->standalone && (gate_make_folder(s, err) < 0 || gate_listen(s, err) < 0))
		return -1;
	if (start_step(s, "start:10-sources", err) < 0)
		return -1;
	for (size_t i = 0; i < p->n_mounts; i++)
		if (open_mount(s, i, err) < 0)
			return -1;
	return devices_check_host(s, err);
}

static unsigned start_slots(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return (unsigned)(cpus < SLOTS_MIN ? SLOTS_MIN : cpus > SLOTS_MAX ? SLOTS_MAX : cpus);
}

static void on_engine_answer(void *data, const struct engine_answer *answer);

static void on_start_timeout(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->start_timer = NULL;
	error_set(&err, ERROR_ENGINE_TIMEOUT, "%s did not bring the sandbox up within %lld s",
		engine_text(s->plan.runtime.engine), (long long)(s->plan.start_timeout_ms / 1000));
	error_set_remedy(&err,
		"raise executors.container.start_timeout_seconds; id-mapping of a large image "
		"(rootless), relabelling (selinux_label) or a VM boot take long");
	start_fail(s, &err);
}

/* Step 11: the one call. Its answer is not waited for; the init's connection is. */
static int call_engine(struct supervisor *s, struct error *err)
{
	auto_fd int env_file = -1;
	int64_t called_at = clock_boottime_ms();

	if (start_step(s, "start:11-engine", err) < 0)
		return -1;
	if (s->launch.env_file) {
		env_file = file_memfd("env", text_of(s->launch.env_file), err);
		if (env_file < 0)
			return -1;
	}
	struct engine_call_spec spec = {
		.path = s->plan.runtime.path,
		.argv = s->plan.engine_argv.v,
		.env = s->launch.run_env.v,
		.fd3 = env_file,
		.timeout_ms = 2 * s->plan.start_timeout_ms,
	};
	s->start_called = true;
	s->start_call = engine_call_start(s->loop, &spec,
		s->plan.standalone ? standalone_start_created : on_engine_answer, s, err);
	if (!s->start_call)
		return -1;
	s->start_timer =
		loop_at(s->loop, called_at + s->plan.start_timeout_ms, on_start_timeout, s);
	return start_step(s, "start:11-called", err);
}

/*
 * A slot is looked for less and less often: where many wait, one of them looks soon after it is
 * free, and their looking takes no time from those that start.
 */
static void take_slot(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	struct lockfile_pool pool = {s->home.sockets_fd, "start", start_slots()};

	s->poll_timer = NULL;
	int r = lockfile_try_slot(&pool, &s->slot_fd, &err);
	if (r == 1) {
		s->slot_wait_ms += s->slot_wait_ms < SLOT_RETRY_MAX_MS ? SLOT_RETRY_MS : 0;
		s->poll_timer =
			loop_at(s->loop, clock_boottime_ms() + s->slot_wait_ms, take_slot, s);
		return;
	}
	if (r < 0 || call_engine(s, &err) < 0)
		start_fail(s, &err);
}

static void after_network(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (make_files(s, &err) < 0)
		start_fail(s, &err);
	else
		take_slot(s);
}

void start_begin(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	s->caller = loop_watch(s->loop, s->caller_fd, EPOLLRDHUP, on_caller_gone, s);
	if (start_step(s, "start:7-secrets", &err) < 0 || lease_stage(s, &err) < 0 ||
		start_step(s, "start:8-network", &err) < 0)
		start_fail(s, &err);
	else
		network_begin(s, after_network);
}

static void on_start_inspect(void *data, const struct engine_answer *answer);

static void poll_init(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;

	s->poll_timer = NULL;
	s->start_inspect = supervisor_inspect(s, on_start_inspect, &err);
	if (!s->start_inspect)
		start_fail(s, &err);
}

static void on_start_inspect(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) seen = INSPECTION_INIT;

	s->start_inspect = NULL;
	bool known = answer->exit_code == 0 && inspect_parse(answer->out, &seen, &err) == 0;
	/* An engine that does not answer is asked again: the start has a limit of its own. */
	if (known ? seen.running : !inspect_says_unknown(answer->stderr_text)) {
		s->poll_timer = loop_at(s->loop, clock_boottime_ms() + INIT_POLL_MS, poll_init, s);
		return;
	}
	error_clear(&err);
	error_set(&err, ERROR_INIT_FAILED,
		"the sandbox ended before its init reported; exit code %lld%s",
		(long long)(known ? seen.exit_code : -1),
		known && seen.exit_code == EACCES ? ": the socket of its supervisor was refused"
						  : "");
	if (known && seen.exit_code == EACCES)
		error_set_remedy(&err,
			"on a host with SELinux set selinux_label: z; cloop executor test shows "
			"where it stops");
	start_fail(s, &err);
}

void start_fail_by_words(
	struct supervisor *s, const char *call, struct text stderr_text, struct text out_text)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) words = STR_INIT(SIZE_MAX / 2);
	AUTO(str) out = STR_INIT(SIZE_MAX / 2);

	redact_text(s->output.redactor, stderr_text, &words);
	redact_text(s->output.redactor, out_text, &out);
	struct failure f = {
		.engine = s->plan.runtime.engine,
		.call = text_of(call),
		.image = text_of(s->plan.image),
		.err = &words,
		.out = &out,
	};
	failure_explain(&f, &err);
	start_fail(s, &err);
}

void start_warn(struct supervisor *s, struct text stderr_text)
{
	AUTO(str) words = STR_INIT(8192);
	auto_free char *masked = mask_words(s, stderr_text);

	text_escape(&words, text_of(masked), FAILURE_QUOTE_BYTES_MAX);
	record_warn(s->record, "engine_call_failed", "the engine reported after the start: %s",
		str_text(&words));
	supervisor_persist(s, false);
}

static void on_engine_answer(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	s->start_call = NULL;
	start_free_slot(s);
	if (s->phase == PHASE_STARTING && answer->exit_code != 0) {
		s->start_killed = answer->exit_code < 0;
		start_fail_by_words(s, "run", answer->stderr_text, answer->out);
	} else if (s->phase == PHASE_STARTING && s->init_fd < 0) {
		s->poll_timer = loop_at(s->loop, clock_boottime_ms() + INIT_POLL_MS, poll_init, s);
	} else if (answer->exit_code != 0 && !record_final(s->record)) {
		start_warn(s, answer->stderr_text);
	}
	if (s->phase == PHASE_OVER)
		remove_begin(s);
}

/* The event can come before the count: it is read again for 20 ms. */
static void on_oom(void *data, uint32_t events)
{
	struct supervisor *s = data;

	(void)events;
	cgroup_oom_seen(s->oom_fd);
	for (unsigned i = 0; i <= OOM_COUNT_MS; i++) {
		int64_t kills = cgroup_oom_kills(&s->cgroup);
		if (kills < 0)
			return;
		if (kills > s->oom_kills) {
			s->oom_kills = kills;
			return;
		}
		clock_sleep_ms(1);
	}
}

void start_watch_cgroup(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	bool priority = false;
	const char *id = supervisor_container_id(s);

	if (cgroup_open(s->init_pid, &s->cgroup, &err) < 0)
		return;
	const char *path = s->cgroup.paths[CGROUP_MEMORY];
	/* On rootless cgroup v1 the init stays in its user's group: its numbers are not the run's.
	 */
	s->cgroup_ours = path && id[0] && strstr(path, id);
	if (!s->cgroup_ours)
		return;
	s->oom_fd = cgroup_oom_watch(&s->cgroup, &priority);
	if (s->oom_fd >= 0)
		s->oom_source =
			loop_watch(s->loop, s->oom_fd, priority ? EPOLLPRI : EPOLLIN, on_oom, s);
}

/* What was asked for is recorded as it was read back (§9.5); the rest stays as it was decided. */
static void record_effective(struct supervisor *s, const struct limits *held)
{
	json_t *effective = json_object_get(json_object_get(s->record, "limits"), "effective");

	if (s->plan.asked.cpu_millis > 0)
		json_object_set_new(
			effective, "cpu_millis", json_integer((json_int_t)held->cpu_millis));
	if (s->plan.asked.memory_mb > 0 && !s->plan.virtualized)
		json_object_set_new(
			effective, "memory_mb", json_integer((json_int_t)held->memory_mb));
	if (s->plan.asked.pids > 0)
		json_object_set_new(effective, "pids", json_integer((json_int_t)held->pids));
}

int start_check_limits(struct supervisor *s, struct error *err)
{
	struct verify v = {.asked = s->plan.asked};
	struct limits effective = {0};

	/* The memory of a virtual machine is its own; what its process takes is not it (§9.2). */
	if (s->plan.virtualized)
		v.asked.memory_mb = 0;
	if (start_step(s, "verify:limits", err) < 0 ||
		verify_limits(&v, &s->cgroup, &effective, err) < 0)
		return -1;
	record_effective(s, &effective);
	return 0;
}

/* Step 13: everything is judged on the real process, before its first instruction. */
static int verify_all(struct supervisor *s, struct error *err)
{
	struct verify_mount mounts[PLAN_MOUNTS_MAX];
	AUTO(strv) fine = STRV_INIT(VERIFY_FINE_MAX);

	strv_add_all(&fine, &s->plan.volumes);
	for (size_t i = 0; i < s->plan.hardware.n_devices; i++)
		strv_add(&fine, s->plan.hardware.devices[i].target);
	for (size_t i = 0; i < s->plan.n_mounts; i++)
		mounts[i] = (struct verify_mount){
			s->plan.mounts[i].target, s->plan.mounts[i].read_only, s->mount_fds[i]};
	struct verify v = {
		.pid = s->init_pid,
		.container_id = supervisor_container_id(s),
		.guest_fd = s->guest_fd,
		.mounts = mounts,
		.n_mounts = s->plan.n_mounts,
		.also_fine = &fine,
		.env = &s->launch.expected,
		.asked = s->plan.asked,
		.uid = s->plan.uid,
		.gid = s->plan.gid,
	};
	if (start_step(s, "verify:mounts", err) < 0 || verify_mounts(&v, err) < 0)
		return -1;
	if (start_check_limits(s, err) < 0)
		return -1;
	if (start_step(s, "verify:environment", err) < 0 ||
		verify_environment(&v, &s->search_path, err) < 0)
		return -1;
	if (start_step(s, "verify:confinement", err) < 0 || verify_confinement(&v, err) < 0)
		return -1;
	if (start_step(s, "verify:devices", err) < 0 || devices_check_inside(s, err) < 0)
		return -1;
	return 0;
}

int start_release(struct supervisor *s, start_go_fn *go, struct error *err)
{
	json_t *supervision = record_supervision(s->record);

	if (start_step(s, "start:14-interfaces", err) < 0 || interfaces_give(s, err) < 0 ||
		start_step(s, "start:15-record", err) < 0)
		return -1;
	json_object_set_new(supervision, "released", json_true());
	json_object_set_new(supervision, "released_ns", json_integer(clock_realtime_ns()));
	json_object_set_new(supervision, "released_boottime_ms", json_integer(clock_boottime_ms()));
	json_object_set_new(supervision, "boot_id", json_string(clock_boot_id()));
	json_object_set_new(supervision, "init_pid", json_integer(s->init_pid));
	if (s->plan.timeout_ms > 0)
		json_object_set_new(supervision, "deadline_boottime_ms",
			json_integer(clock_boottime_ms() + s->plan.timeout_ms));
	if (rundir_write(&s->run, RECORD_FILE, s->record, false, err) < 0 ||
		start_step(s, "start:15-go", err) < 0 || go(s, err) < 0) {
		json_object_set_new(supervision, "released", json_false());
		return -1;
	}
	fault_hit("start:15-gone");
	s->phase = PHASE_RELEASED;
	stop_arm_deadline(s);
	extend_begin(s);
	/* docker's sandbox is not known yet (standalone-start.c). */
	if (s->init_pid > 0)
		disk_begin(s);
	floor_begin(s, false);
	return 0;
}

void start_on_hello(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	start_stop_waiting(s);
	start_watch_cgroup(s);
	if (start_step(s, "start:12-init", &err) < 0 || verify_all(s, &err) < 0 ||
		network_joined(s, &err) < 0 || start_release(s, gate_send_go, &err) < 0) {
		start_fail(s, &err);
		return;
	}
	output_start(&s->output);
}

void start_confirm(struct supervisor *s)
{
	json_t *v = record_supervision(s->record);

	s->phase = PHASE_RUNNING;
	s->confirmed = true;
	json_object_set_new(v, "confirmed", json_true());
	record_set_state(s->record, "running");
	if (!json_is_string(json_object_get(s->record, "started_at")))
		record_set_time(s->record, "started_at",
			json_get_int(v, "released_ns", clock_realtime_ns()));
	supervisor_persist(s, false);
}

void start_on_started(struct supervisor *s)
{
	if (s->phase != PHASE_RELEASED)
		return;
	fault_hit("start:16-started");
	start_confirm(s);
	fault_hit("start:17-answer");
	start_answer(s);
	fault_hit("start:17-answered");
	launch_done(&s->launch);
	close_mounts(s);
}

void start_explain_exec(const struct supervisor *s, const char *word, const struct init_failure *f,
	struct error *err)
{
	enum init_exec_verdict verdict = init_exec_judge(f);

	if (verdict == INIT_VERDICT_NOT_FOUND && s->search_path && !strchr(word, '/'))
		error_set(err, ERROR_COMMAND_NOT_FOUND,
			"%s was not found in image %s, looked for on PATH %s", quoted_string(word),
			quoted_string(s->plan.image), quoted_string(s->search_path));
	else if (verdict == INIT_VERDICT_NOT_FOUND)
		error_set(err, ERROR_COMMAND_NOT_FOUND, "%s was not found in image %s",
			quoted_string(word), quoted_string(s->plan.image));
	else if (verdict == INIT_VERDICT_NOT_EXECUTABLE)
		error_set_errno(err, ERROR_COMMAND_NOT_EXECUTABLE, (int)f->error,
			"%s cannot be executed in image %s", quoted_string(word),
			quoted_string(s->plan.image));
	else
		error_set_errno(err, ERROR_EXEC_FAILED, (int)f->error, "starting %s (step %s)",
			quoted_string(word), init_step_text(f->step));
	/* The file is there: what the kernel misses is what would run it. */
	if (verdict == INIT_VERDICT_NOT_EXECUTABLE && f->error == ENOENT)
		error_set_remedy(err,
			"the file is there, and what runs it is not in the image: the interpreter "
			"of its first line, or the loader of another C library");
}

void start_on_exec_failed(struct supervisor *s, const struct init_failure *f)
{
	auto_error struct error err = ERROR_INIT;

	if (s->phase != PHASE_RELEASED)
		return;
	json_object_set_new(record_supervision(s->record), "released", json_false());
	start_explain_exec(s, s->plan.command.n ? s->plan.command.v[0] : "", f, &err);
	start_fail(s, &err);
}
