#include "executor/container/supervise/attach-exec.h"
#include "executor/container/supervise/supervisor.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/mask.h"
#include "executor/container/supervise/revoke.h"
#include "executor/container/supervise/supervise.h"
#include "executor/rundir/record-end.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "sys/log.h"

enum {
	ENGINE_ARGS_MAX = 24,
	HANDOVER_MAX = PLAN_MOUNTS_MAX + 2, /* descriptors */
	CID_HEX = 64,
	INSPECT_TIMEOUT_MS = 30000,
	ASK_AGAIN_FIRST_MS = 1000,
	ASK_AGAIN_MAX_MS = 30000,
};

#define UNDECIDED_LEFT "its container, if there is one, is left to `cloop executor reap`"

static void supervisor_init(struct supervisor *s)
{
	*s = (struct supervisor){
		.home = HOME_INIT,
		.run = RUNDIR_INIT,
		.plan = PLAN_INIT,
		.launch = LAUNCH_INIT,
		.lease = LEASE_INIT,
		.egress = EGRESS_INIT,
		.disk = DISK_WATCH_INIT,
		.interfaces = INTERFACES_INIT,
		.network = NETWORK_INIT,
		.guard = GUARD_INIT,
		.cgroup = CGROUP_INIT,
		.standalone = STANDALONE_INIT,
		.left_marks = STRV_INIT(ATTACH_MARKS_MAX),
		.lock_fd = -1,
		.caller_fd = -1,
		.guest_fd = -1,
		.slot_fd = -1,
		.ctl_fd = -1,
		.listen_fd = -1,
		.init_fd = -1,
		.init_pidfd = -1,
		.oom_fd = -1,
		.cpu_ms = -1,
		.memory_peak = -1,
		.wait_status = -1,
		.engine_exit_code = -1,
		.engine_knows = true,
	};
	for (size_t i = 0; i < PLAN_MOUNTS_MAX; i++)
		s->mount_fds[i] = -1;
}

static void supervisor_done(struct supervisor *s)
{
	start_cleanup(s);
	stop_cleanup(s);
	extend_end(s);
	egress_done(s);
	disk_end(s);
	floor_end(s);
	guard_end(s);
	network_done(&s->network);
	revoke_settle(s, "unreachable", "the engine does not answer");
	server_close(s);
	attach_done(s);
	standalone_release(s);
	gate_unlisten(s);
	gate_disconnect(s);
	engine_call_cancel(s->inspect_call);
	engine_call_cancel(s->start_inspect);
	engine_call_cancel(s->remove_call);
	loop_remove(s->init_ended);
	loop_remove(s->init_timer);
	loop_remove(s->oom_source);
	output_done(&s->output);
	cgroup_done(&s->cgroup);
	int fds[] = {s->guest_fd, s->ctl_fd, s->init_pidfd, s->oom_fd};
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	loop_free(s->loop);
	json_decref(s->record);
	launch_done(&s->launch);
	lease_done(&s->lease);
	interfaces_done(&s->interfaces);
	plan_done(&s->plan);
	rundir_done(&s->run);
	home_done(&s->home);
	error_done(&s->failure);
	free(s->search_path);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
}

void supervisor_persist(struct supervisor *s, bool durable)
{
	auto_error struct error err = ERROR_INIT;

	if (rundir_write(&s->run, RECORD_FILE, s->record, durable, &err) < 0)
		log_warning("%s", err.message);
}

void supervisor_note(struct supervisor *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto_free char *words = mem_vprintf(fmt, ap);
	va_end(ap);
	output_note(&s->output, words);
}

const char *supervisor_container_id(struct supervisor *s)
{
	static char id[CID_HEX + 1];
	AUTO(str) text = STR_INIT(256);

	id[0] = '\0';
	if (file_read_at(s->run.fd, "cid", 255, &text) == 0) {
		struct text t = text_trim((struct text){str_text(&text), text.len});
		if (text_is_hex(t, CID_HEX))
			memcpy(id, t.p, CID_HEX + 1 <= t.len ? CID_HEX : t.len);
		id[CID_HEX] = '\0';
	}
	return id;
}

const char *supervisor_container(struct supervisor *s)
{
	const char *id = supervisor_container_id(s);

	return id[0] ? id : s->plan.container_name;
}

struct call_limits {
	int64_t timeout_ms;
	size_t out_max;
	const int *stdio;
	void *data; /* of the callback; NULL = the supervisor */
};

static struct engine_call *call(struct supervisor *s, const char *const *args,
	const struct call_limits *limits, engine_call_fn *fn, struct error *err)
{
	AUTO(strv) argv = STRV_INIT(ENGINE_ARGS_MAX + 1);

	strv_add(&argv, engine_text(s->plan.runtime.engine));
	for (size_t i = 0; args[i]; i++)
		strv_add(&argv, args[i]);
	struct engine_call_spec spec = {
		.path = s->plan.runtime.path,
		.argv = argv.v,
		.env = s->plan.client_env.v,
		.fd3 = -1,
		.timeout_ms = limits->timeout_ms,
		.out_max = limits->out_max,
		.stdio = limits->stdio,
	};
	return engine_call_start(s->loop, &spec, fn, limits->data ? limits->data : s, err);
}

bool supervisor_released(const struct supervisor *s)
{
	return s->phase == PHASE_RELEASED || s->phase == PHASE_RUNNING;
}

const char *supervisor_state(struct supervisor *s)
{
	const char *before = json_get_string(record_supervision(s->record), "state_before");
	const char *state = record_state(s->record);

	return strcmp(state, "unknown") == 0 && before ? before : state;
}

void supervisor_ask_later(struct supervisor *s, loop_timer_fn *fn)
{
	revoke_settle(s, "unreachable", "the engine does not answer");
	if (!record_final(s->record) && strcmp(record_state(s->record), "unknown") != 0) {
		json_object_set_new(record_supervision(s->record), "state_before",
			json_string(record_state(s->record)));
		record_set_state(s->record, "unknown");
		supervisor_persist(s, false);
	}
	s->ask_wait_ms = s->ask_wait_ms ? s->ask_wait_ms * 2 : ASK_AGAIN_FIRST_MS;
	if (s->ask_wait_ms > ASK_AGAIN_MAX_MS)
		s->ask_wait_ms = ASK_AGAIN_MAX_MS;
	s->poll_timer = loop_at(s->loop, clock_boottime_ms() + s->ask_wait_ms, fn, s);
}

void supervisor_known(struct supervisor *s)
{
	s->ask_wait_ms = 0;
	if (!record_final(s->record))
		record_set_state(s->record, supervisor_state(s));
}

struct engine_call *supervisor_inspect(struct supervisor *s, engine_call_fn *fn, struct error *err)
{
	const char *args[] = {"inspect", "--type=container", supervisor_container(s), NULL};
	struct call_limits limits = {INSPECT_TIMEOUT_MS, INSPECT_ANSWER_MAX, NULL, NULL};

	return call(s, args, &limits, fn, err);
}

struct engine_call *supervisor_engine(struct supervisor *s, const char *const *args,
	int64_t timeout_ms, engine_call_fn *fn, struct error *err)
{
	struct call_limits limits = {timeout_ms, 0, NULL, NULL};

	return call(s, args, &limits, fn, err);
}

struct engine_call *supervisor_engine_for(struct supervisor *s, const char *const *args,
	int64_t timeout_ms, engine_call_fn *fn, void *data, struct error *err)
{
	struct call_limits limits = {timeout_ms, 0, NULL, data};

	return call(s, args, &limits, fn, err);
}

struct engine_call *supervisor_engine_line(struct supervisor *s, const struct strv *words,
	int64_t timeout_ms, engine_call_fn *fn, struct error *err)
{
	const char *args[ENGINE_ARGS_MAX + 1] = {NULL};

	assert(words->n <= ENGINE_ARGS_MAX);
	for (size_t i = 0; i < words->n; i++)
		args[i] = words->v[i];
	return supervisor_engine(s, args, timeout_ms, fn, err);
}

struct engine_call *supervisor_engine_into(struct supervisor *s, const char *const *args,
	const int stdio[2], engine_call_fn *fn, struct error *err)
{
	struct call_limits limits = {0, 0, stdio, NULL};

	return call(s, args, &limits, fn, err);
}

/* Nobody may look into this process, and it leaves no core: it holds values of variables. */
static void harden(void)
{
	struct rlimit none = {0, 0};

	umask(022);
	prctl(PR_SET_DUMPABLE, 0);
	setrlimit(RLIMIT_CORE, &none);
}

static void open_log(struct supervisor *s)
{
	int fd = openat(s->run.fd, "shim.log",
		O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

	log_set_fd(fd);
}

static json_t *take_record(const struct supervisor *s, struct error *err)
{
	const struct plan *p = &s->plan;
	struct record_facts facts = {.handle = s->run.handle,
		.executor_id = p->executor_id,
		.executor_kind = "container",
		.project = p->project,
		.image = p->image};

	return record_take(&s->run, s->adopted ? &facts : NULL, err);
}

/* What both ways of supervising begin with. */
static int open_run(struct supervisor *s, const char *home, const char *handle, struct error *err)
{
	if (home_open(home, &s->home, err) < 0 || rundir_open(&s->home, handle, &s->run, err) < 0)
		return -1;
	open_log(s);
	auto_json *request = rundir_read(&s->run, REQUEST_FILE, err);
	if (!request || plan_from_json(request, &s->plan, err) < 0)
		return -1;
	s->record = take_record(s, err);
	s->loop = s->record ? loop_new(err) : NULL;
	if (!s->loop)
		return -1;
	return output_init(&s->output, s->loop, &s->run, s->plan.log_max_mb, err);
}

/* The dispatcher's one message; how many descriptors came with it. */
static size_t receive_fds(int caller_fd, int fds[HANDOVER_MAX])
{
	char byte;
	struct iovec iov = {&byte, 1};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(HANDOVER_MAX * sizeof(int))];
	} control;
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	size_t n = 0;
	ssize_t r;

	do
		r = recvmsg(caller_fd, &m, MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	struct cmsghdr *c = r > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS) {
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	}
	return n;
}

static int read_launch(struct supervisor *s, int fd, struct error *err)
{
	AUTO(secret) block = {.p = NULL};

	if (file_read_secret(fd, LAUNCH_BYTES_MAX, &block, err) < 0)
		return error_set(err, ERROR_SHIM_FAILED, "the launch block cannot be read");
	return launch_read(&block, &s->launch, err);
}

/*
 * A sealed memfd with the launch block, one with the contents of the lease's files if the plan has
 * any, then the descriptors of the mounts that the dispatcher opened, in the order of the plan.
 */
static int receive_launch(struct supervisor *s, struct error *err)
{
	int fds[HANDOVER_MAX];
	size_t n = receive_fds(s->caller_fd, fds), next = 1;

	if (n == 0)
		return error_set(err, ERROR_START_CANCELLED, "the dispatcher went away");
	auto_fd int launch = fds[0];
	auto_fd int contents = s->plan.lease.n_files > 0 && next < n ? fds[next++] : -1;
	for (size_t i = 0; i < s->plan.n_mounts; i++)
		if (s->plan.mounts[i].kind == PLAN_MOUNT_GIVEN && next < n)
			s->mount_fds[i] = fds[next++];
	if (read_launch(s, launch, err) < 0 || mask_variables(s, &s->launch.expected, err) < 0 ||
		lease_receive(s, contents, err) < 0)
		return -1;
	mask_note(s);
	return 0;
}

static int run_loop(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (loop_run(s->loop, &err) < 0)
		log_error("%s", err.message);
	bool over = s->phase == PHASE_OVER;
	supervisor_done(s);
	return over ? 0 : 1;
}

/*
 * A start that ends before there is a loop: only the record and the log can be written. What could
 * not be opened may be the log itself.
 */
static int give_up(struct supervisor *s, const struct error *err)
{
	auto_error struct error second = ERROR_INIT;

	log_error("%s", err->message);
	if (s->record && s->run.fd >= 0) {
		record_set_error(s->record, err);
		record_set_state(s->record, "failed");
		json_object_set_new(s->record, "outcome", json_string("start_failed"));
		record_set_time(s->record, "finished_at", clock_realtime_ns());
		json_object_set_new(record_supervision(s->record), "cli_exit",
			json_integer(error_code_run_exit(err->code)));
		supervisor_persist(s, true);
		if (s->output.log &&
			log_writer_end(s->output.log, clock_realtime_ns(), &second) < 0)
			log_warning("%s", second.message);
	}
	if (s->caller_fd >= 0) {
		auto_json *envelope = error_to_json(err);
		auto_free char *text = json_write(envelope);
		(void)!send(s->caller_fd, text, strlen(text), MSG_NOSIGNAL);
		close(s->caller_fd);
		s->caller_fd = -1;
	}
	supervisor_done(s);
	return 1;
}

int supervise_start(const char *home, const char *handle, int lock_fd, int caller_fd)
{
	struct supervisor s;
	auto_error struct error err = ERROR_INIT;

	harden();
	supervisor_init(&s);
	s.lock_fd = lock_fd;
	s.caller_fd = caller_fd;
	if (open_run(&s, home, handle, &err) < 0 || receive_launch(&s, &err) < 0 ||
		server_open(&s, &err) < 0)
		return give_up(&s, &err);
	start_begin(&s);
	return run_loop(&s);
}

/*
 * A start that died before it had written what was decided (§9.1 step 4): nothing was made. What
 * was decided and is gone for good ends the run, too. Any other trouble of a new supervisor leaves
 * the record as it is, for the next one.
 */
static int give_up_adoption(struct supervisor *s, const struct error *err)
{
	auto_error struct error why = ERROR_INIT;
	bool undecided = faccessat(s->run.fd, REQUEST_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
			 errno == ENOENT;

	s->record = s->record ? s->record : take_record(s, &why);
	if (undecided && s->record && !record_rebuilt(s->record) &&
		strcmp(record_state(s->record), "pending") == 0) {
		error_set(&why, ERROR_START_CANCELLED, "the start died before the run was decided");
		return give_up(s, &why);
	}
	if (s->record && record_end_undecided(&s->run, s->record, UNDECIDED_LEFT))
		control_unlink(&s->home, s->run.handle);
	log_error("%s", err->message);
	supervisor_done(s);
	return 1;
}

int supervise_adopt(const char *home, const char *handle)
{
	struct supervisor s;
	auto_error struct error err = ERROR_INIT;

	harden();
	supervisor_init(&s);
	s.adopted = true;
	s.phase = PHASE_ADOPTING;
	if (home_open(home, &s.home, &err) < 0 || rundir_open(&s.home, handle, &s.run, &err) < 0) {
		log_error("%s", err.message);
		supervisor_done(&s);
		return 1;
	}
	int held = lockfile_try(s.run.fd, "lock", &s.lock_fd, &err);
	if (held != 0) {
		supervisor_done(&s);
		return held < 0 ? 1 : 0;
	}
	fault_hit("adopt:lock");
	home_done(&s.home);
	rundir_done(&s.run);
	if (open_run(&s, home, handle, &err) < 0 || server_open(&s, &err) < 0)
		return give_up_adoption(&s, &err);
	adopt_begin(&s);
	return run_loop(&s);
}
