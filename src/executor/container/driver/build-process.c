/*
 * Measured with podman 4.3.1 (buildah 1.28) and docker 20.10: killing `podman build` itself, by
 * TERM or KILL, leaves the process of RUN running and a working container behind; when that process
 * is killed, the client cleans up and ends with an error. So every descendant outside the client's
 * session (the container's processes are, the engine's helpers are not) is killed first, again and
 * again, since the client may be between two commands. docker's containers are the daemon's: it
 * stops one when the client goes away, and the client goes in order at SIGTERM.
 *
 * We are a child subreaper meanwhile, so that a process whose parent died comes to us. Of such
 * orphans those are ended that belong to a container, to the client's session or to one of which a
 * process was killed; an engine's daemon for everybody (podman's pause process, a DNS server) is
 * not ours to end. A process that is not ours to shape leaves that to the client's keeper.
 */
#include "executor/container/driver/build-process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/descendants.h"
#include "sys/file.h"
#include "sys/spawn-keeper.h"

enum {
	CHUNK = 65536,
	GRACE_MS = 10000,    /* for the client to end in order */
	LOOK_EVERY_MS = 100, /* while it does */
	SWEEP_MS = 5000,
	DRAIN_MS = 100,
};
enum slot { SLOT_OUTPUT, SLOT_CHILD, SLOT_CANCEL, SLOT_COUNT };

struct build {
	const struct build_process *what;
	struct child client;
	pid_t session;
	int output;
	struct descendants before; /* children that we had: not the build's */
	struct descendants killed; /* of its commands */
	int was_subreaper;
	bool kept; /* orphans come to the client's keeper, not to us */
	bool ended;
	int64_t stop_ms; /* boottime when it was told to stop; 0 = not yet */
	int64_t look_ms; /* when its commands were looked for last: a walk through /proc */
	struct build_outcome outcome;
};

static void build_done(struct build *b)
{
	child_done(&b->client);
	cleanup_fd(&b->output);
	descendants_done(&b->before);
	descendants_done(&b->killed);
	if (!b->kept)
		prctl(PR_SET_CHILD_SUBREAPER, b->was_subreaper, 0, 0, 0);
}

static int begin(struct build *b, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, ERROR_IO, errno, "making a pipe");
	b->output = ends[0];
	auto_fd int theirs = ends[1];
	auto_fd int dockerfile = file_memfd("Dockerfile", b->what->dockerfile, err);
	if (dockerfile < 0)
		return -1;
	if (fcntl(b->output, F_SETFL, O_NONBLOCK) < 0)
		return error_set_errno(err, ERROR_IO, errno, "setting up a pipe");
	struct spawn s = {
		.path = b->what->runtime->path,
		.argv = b->what->argv->v,
		.env = b->what->env->v,
		.new_session = true,
		.orphans = true,
		.fds = {{dockerfile, 0}, {theirs, 1}, {theirs, 2}},
		.n_fds = 3,
	};
	b->kept = spawn_keeper_used();
	if (!b->kept) {
		descendants_find(getpid(), &b->before);
		prctl(PR_GET_CHILD_SUBREAPER, &b->was_subreaper, 0, 0, 0);
		prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	}
	if (spawn_start(&s, &b->client, err) < 0)
		return -1;
	b->session = b->client.pid;
	return 0;
}

/* False: nothing there now, or the end. */
static bool read_some(struct build *b)
{
	char chunk[CHUNK];

	if (b->output < 0)
		return false;
	ssize_t n = read(b->output, chunk, sizeof(chunk));
	if (n > 0)
		build_output_take(b->what->output, (struct text){chunk, (size_t)n});
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close(TAKE_FD(b->output));
	return n > 0;
}

static bool is_podman(const struct build *b)
{
	return b->what->runtime->engine == ENGINE_PODMAN;
}

static void kill_commands(struct build *b)
{
	AUTO(descendants) below = DESCENDANTS_INIT;

	descendants_find(b->session, &below);
	for (size_t i = 0; i < below.n; i++)
		if (below.v[i].session != b->session) {
			descendant_kill(&below.v[i]);
			if (!descendants_have_session(&b->killed, below.v[i].session))
				descendants_add(&b->killed, below.v[i]);
		}
}

static void stop(struct build *b, enum build_end why)
{
	b->outcome.end = why;
	b->stop_ms = clock_boottime_ms();
	if (!is_podman(b))
		pidfd_send_signal(b->client.pidfd, SIGTERM, NULL, 0);
}

static void force(struct build *b)
{
	b->outcome.forced = true;
	if (b->kept)
		pidfd_send_signal(b->client.pidfd, SIGKILL, NULL, 0);
	else
		child_kill(&b->client);
}

/* Once told to stop: podman's commands as often as it begins one, then the client itself. */
static void insist(struct build *b)
{
	int64_t now = clock_boottime_ms();

	if (now - b->look_ms < LOOK_EVERY_MS)
		return;
	b->look_ms = now;
	if (is_podman(b))
		kill_commands(b);
	if (now - b->stop_ms < GRACE_MS || b->outcome.forced)
		return;
	force(b);
}

static int timeout_of(const struct build *b)
{
	if (b->stop_ms)
		return LOOK_EVERY_MS;
	int64_t left = b->what->deadline_ms - clock_boottime_ms();
	return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static int step(struct build *b, struct error *err)
{
	struct pollfd p[SLOT_COUNT] = {
		[SLOT_OUTPUT] = {.fd = b->output, .events = POLLIN},
		[SLOT_CHILD] = {.fd = b->client.pidfd, .events = POLLIN},
		[SLOT_CANCEL] = {.fd = b->stop_ms ? -1 : b->what->cancel_fd, .events = POLLIN},
	};

	if (poll(p, SLOT_COUNT, timeout_of(b)) < 0 && errno != EINTR)
		return error_set_errno(err, ERROR_IO, errno, "waiting for a build");
	if (p[SLOT_OUTPUT].revents)
		read_some(b);
	if (p[SLOT_CHILD].revents)
		b->ended = true;
	else if (b->stop_ms)
		insist(b);
	else if (p[SLOT_CANCEL].revents)
		stop(b, BUILD_CANCELLED);
	else if (clock_boottime_ms() >= b->what->deadline_ms)
		stop(b, BUILD_TOO_LATE);
	return 0;
}

/* What is left of the build among those that came to us; false: nothing. */
static bool sweep_once(const struct build *b)
{
	AUTO(descendants) now = DESCENDANTS_INIT;
	bool left = false;

	descendants_find(b->kept ? b->session : getpid(), &now);
	for (size_t i = 0; i < now.n; i++) {
		const struct descendant *p = &now.v[i];
		if (descendants_have(&b->before, p->pid))
			continue;
		/* Also a zombie's end, which nobody else collects. */
		if (p->parent == getpid() && waitpid(p->pid, NULL, WNOHANG) == p->pid)
			continue;
		if (p->session != b->session && !descendant_contained(p) &&
			!descendants_have_session(&b->killed, p->session))
			continue;
		descendant_kill(p);
		left = true;
	}
	return left;
}

static void sweep(const struct build *b)
{
	int64_t until = clock_boottime_ms() + SWEEP_MS;

	while (sweep_once(b) && clock_boottime_ms() < until)
		clock_sleep_ms(5);
}

static void drain(struct build *b)
{
	int64_t until = clock_boottime_ms() + DRAIN_MS;

	while (read_some(b) && clock_boottime_ms() < until)
		;
	build_output_end(b->what->output);
}

int build_process_run(
	const struct build_process *what, struct build_outcome *ret, struct error *err)
{
	AUTO(build) b = {.what = what, .client = CHILD_INIT, .output = -1};

	if (begin(&b, err) < 0)
		return -1;
	while (!b.ended)
		if (step(&b, err) < 0)
			break;
	if (!b.ended) {
		kill_commands(&b);
		force(&b);
	}
	if (b.kept)
		sweep(&b);
	int r = child_wait(&b.client, &b.outcome.status, err);
	if (!b.kept)
		sweep(&b);
	drain(&b);
	*ret = b.outcome;
	return b.ended ? r : -1;
}
