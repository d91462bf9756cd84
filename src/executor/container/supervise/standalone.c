#include "executor/container/supervise/standalone.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/mem.h"
#include "base/num.h"
#include "executor/container/inspect.h"
#include "executor/container/supervise/orphan.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/file.h"

enum {
	PROC_FILE_MAX = 2 << 20,
	PID_FILE_MAX = 32,
	LATE_MS = 5000,   /* what goes on when the sandbox has ended: a writer, a `kill` */
	KILLED_MS = 2000, /* a sandbox that does not end when it is killed */
	ANSWER_EVERY_MS = 10,
	CLIENT_AGAIN_MS = 1000 /* between two clients of docker */
};

bool standalone_is_podman(const struct supervisor *s)
{
	return s->plan.runtime.engine == ENGINE_PODMAN;
}

static void forget(struct loop_source **source, int *fd)
{
	loop_remove(TAKE_PTR(*source));
	if (*fd >= 0)
		close(TAKE_FD(*fd));
}

void standalone_release(struct supervisor *s)
{
	struct standalone *x = &s->standalone;

	forget(&x->sandbox_ended, &x->sandbox_fd);
	forget(&x->writer_ended, &x->writer_fd);
	loop_remove(TAKE_PTR(x->timer));
	engine_call_cancel(TAKE_PTR(x->client));
	free(TAKE_PTR(x->words));
}

static bool lives(int pidfd)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&p, 1, 0) == 0;
}

/* A process that the engine made for our container: its line or its control groups name it. */
static int open_process(struct supervisor *s, pid_t pid)
{
	static const char *const files[] = {"cmdline", "cgroup"};
	const char *id = supervisor_container_id(s);

	auto_fd int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	for (size_t i = 0; pidfd >= 0 && id[0] && i < ARRAY_SIZE(files); i++) {
		AUTO(str) text = STR_INIT(PROC_FILE_MAX);
		auto_free char *path = mem_printf("/proc/%d/%s", (int)pid, files[i]);
		if (file_read_at(AT_FDCWD, path, PROC_FILE_MAX - 1, &text) >= 0 &&
			text_has((struct text){str_text(&text), text.len}, id))
			return TAKE_FD(pidfd);
	}
	return -1;
}

/* The number in a file that the engine wrote into RUN; 0 = none. */
static pid_t read_pid(struct supervisor *s, const char *name)
{
	AUTO(str) text = STR_INIT(PID_FILE_MAX);
	uint64_t pid;

	if (file_read_at(s->run.fd, name, PID_FILE_MAX - 1, &text) < 0 ||
		num_parse(text_trim(text_of(str_text(&text))), INT32_MAX, &pid) != NUM_OK)
		return 0;
	return (pid_t)pid;
}

static void run_ended(struct supervisor *s);

static void on_answered(void *data)
{
	struct supervisor *s = data;

	s->standalone.timer = NULL;
	run_ended(s);
}

/*
 * The engine's `kill` may answer after what it brought about is seen here: only its answer says
 * that the signal reached a live sandbox.
 */
static void run_ended(struct supervisor *s)
{
	int64_t now = clock_boottime_ms();
	struct standalone *x = &s->standalone;

	if (x->ended_at == 0)
		x->ended_at = now;
	if (!s->kill_call || now - x->ended_at >= LATE_MS) {
		finish_begin(s);
		return;
	}
	loop_remove(x->timer);
	x->timer = loop_at(s->loop, now + ANSWER_EVERY_MS, on_answered, s);
}

static bool has_writer(const struct supervisor *s)
{
	return s->standalone.client || s->standalone.writer_fd >= 0;
}

static void end_lost(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_LOST,
		"the engine's monitor of the sandbox died, and with it how the run ended");
	finish_failed(s, "lost", &err);
}

static void write_gap(struct supervisor *s)
{
	log_writer_gap(s->output.log, clock_realtime_ns(), LOG_LOST_UNKNOWN);
}

/* What a writer that is late still has is not waited for. */
static void on_late(void *data)
{
	struct supervisor *s = data;

	s->standalone.timer = NULL;
	if (has_writer(s))
		write_gap(s);
	if (s->standalone.lost)
		end_lost(s);
	else
		run_ended(s);
}

static void wait_no_longer_than(struct supervisor *s, int64_t ms)
{
	loop_remove(s->standalone.timer);
	s->standalone.timer = loop_at(s->loop, clock_boottime_ms() + ms, on_late, s);
}

/* Nobody is left who would learn its exit code: it is ended (§11.1). */
static void lose(struct supervisor *s)
{
	s->standalone.lost = true;
	pidfd_send_signal(s->standalone.sandbox_fd, SIGKILL, NULL, 0);
	wait_no_longer_than(s, KILLED_MS);
}

static void sandbox_gone(struct supervisor *s)
{
	if (has_writer(s))
		wait_no_longer_than(s, LATE_MS);
	else
		run_ended(s);
}

static void on_sandbox_ended(void *data, uint32_t events)
{
	struct supervisor *s = data;

	(void)events;
	loop_remove(s->standalone.sandbox_ended);
	s->standalone.sandbox_ended = NULL;
	/* The engine removes the groups in a moment. */
	finish_read_usage(s);
	if (s->standalone.lost)
		end_lost(s);
	else if (s->confirmed)
		sandbox_gone(s);
}

static void hold_sandbox(struct supervisor *s, int pidfd, pid_t pid)
{
	s->standalone.sandbox_fd = pidfd;
	if (pidfd < 0)
		return;
	s->init_pid = pid;
	s->standalone.sandbox_ended = loop_watch(s->loop, pidfd, EPOLLIN, on_sandbox_ended, s);
}

void standalone_hold_sandbox(struct supervisor *s, pid_t pid)
{
	hold_sandbox(s, open_process(s, pid), pid);
}

static void client_gone(struct supervisor *s);

static void writer_ended(struct supervisor *s)
{
	if (!supervisor_released(s) && s->phase != PHASE_STARTING)
		return;
	if (!s->confirmed) {
		s->standalone.writer_gone = true;
		return;
	}
	if (!lives(s->standalone.sandbox_fd))
		run_ended(s);
	else if (standalone_is_podman(s))
		lose(s);
	else
		client_gone(s);
}

static void on_writer_ended(void *data, uint32_t events)
{
	struct supervisor *s = data;

	(void)events;
	forget(&s->standalone.writer_ended, &s->standalone.writer_fd);
	writer_ended(s);
}

static void hold_writer(struct supervisor *s, int pidfd)
{
	s->standalone.writer_fd = pidfd;
	s->standalone.writer_ended = loop_watch(s->loop, pidfd, EPOLLIN, on_writer_ended, s);
}

int standalone_hold_monitor(struct supervisor *s, struct error *err)
{
	int monitor = open_process(s, read_pid(s, "conmon.pid"));

	if (monitor >= 0)
		hold_writer(s, monitor);
	standalone_hold_sandbox(s, read_pid(s, "init.pid"));
	if (monitor < 0 || s->standalone.sandbox_fd < 0)
		return error_set(err, ERROR_ENGINE_FAILED,
			"podman made the sandbox, and its %s is not there",
			monitor < 0 ? "monitor" : "process");
	return 0;
}

static void on_client_answer(void *data, const struct engine_answer *answer)
{
	struct supervisor *s = data;

	(void)answer; /* the engine says better how the run ended */
	s->standalone.client = NULL;
	writer_ended(s);
}

struct engine_call *standalone_engine_into_pipes(
	struct supervisor *s, const char *const *args, engine_call_fn *fn, struct error *err)
{
	int ends[OUTPUT_STREAMS];

	if (output_open_ends(&s->output, ends, err) < 0)
		return NULL;
	struct engine_call *call = supervisor_engine_into(s, args, ends, fn, err);
	for (size_t i = 0; i < OUTPUT_STREAMS; i++)
		close(ends[i]);
	return call;
}

int standalone_attach(struct supervisor *s, const char *const *args, struct error *err)
{
	/* Also of one that could not be started: the next one waits a moment. */
	s->standalone.client_since = clock_boottime_ms();
	s->standalone.client = standalone_engine_into_pipes(s, args, on_client_answer, err);
	return s->standalone.client ? 0 : -1;
}

static void attach_again(struct supervisor *s);

static void attach_now(void *data)
{
	struct supervisor *s = data;
	auto_error struct error err = ERROR_INIT;
	const char *args[] = {
		"attach", "--no-stdin", "--sig-proxy=false", supervisor_container(s), NULL};

	s->standalone.timer = NULL;
	if (standalone_attach(s, args, &err) < 0)
		attach_again(s);
}

static bool client_lived(const struct supervisor *s)
{
	return clock_boottime_ms() - s->standalone.client_since >= CLIENT_AGAIN_MS;
}

static void attach_again(struct supervisor *s)
{
	int64_t wait = client_lived(s) ? 0 : CLIENT_AGAIN_MS;

	loop_remove(s->standalone.timer);
	s->standalone.timer = loop_at(s->loop, clock_boottime_ms() + wait, attach_now, s);
}

/*
 * What is printed until a new client is attached is lost. One gap stands for all clients that end
 * at once.
 */
static void client_gone(struct supervisor *s)
{
	if (client_lived(s) || !s->standalone.gap)
		write_gap(s);
	s->standalone.gap = true;
	attach_again(s);
}

void standalone_watch(struct supervisor *s)
{
	if (s->standalone.writer_gone)
		writer_ended(s);
	else if (s->standalone.sandbox_fd >= 0 && !lives(s->standalone.sandbox_fd))
		sandbox_gone(s);
}

static void adopt_writer(struct supervisor *s)
{
	int writer = standalone_is_podman(s) ? open_process(s, read_pid(s, "conmon.pid"))
					     : orphan_client(&s->run, supervisor_container_id(s));

	if (writer >= 0)
		hold_writer(s, writer);
	else if (standalone_is_podman(s))
		lose(s);
	else
		client_gone(s);
}

bool standalone_adopt(struct supervisor *s, const struct inspection *seen)
{
	standalone_hold_sandbox(s, seen->pid);
	if (s->standalone.sandbox_fd < 0)
		return false;
	if (!s->confirmed)
		start_confirm(s);
	adopt_writer(s);
	return true;
}
