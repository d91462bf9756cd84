/*
 * spawn_capture(): one poll loop over both pipes, the child's pidfd and the caller's cancel
 * descriptor. The call ends when the child has ended and what it wrote is read; a grandchild that
 * keeps a pipe open (an engine's monitor, a credential helper) does not prolong it, because after
 * the child's end only what is in the pipes already is taken, for at most DRAIN_MS.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>

#include "base/text.h"
#include "sys/cancel.h"
#include "sys/clock.h"
#include "sys/spawn-internal.h"

enum { DRAIN_MS = 100, CHUNK = 8192 };
enum slot { SLOT_OUT, SLOT_ERR, SLOT_CHILD, SLOT_CANCEL, SLOT_COUNT };

struct call {
	const struct capture *how;
	struct child child;
	int pipes[2]; /* read ends of stdout and stderr, -1 after the end */
	int64_t deadline_ms;
	bool ended;
	struct captured result;
};

static void call_done(struct call *c)
{
	child_done(&c->child);
	cleanup_fd(&c->pipes[0]);
	cleanup_fd(&c->pipes[1]);
	captured_done(&c->result);
}

static void keep(struct str *to, const char *bytes, size_t n)
{
	size_t room = to->max - to->len;

	str_add(to, bytes, n < room ? n : room);
}

/* Takes one chunk; closes the pipe at its end. False = nothing there now. */
static bool read_some(int *fd, struct str *to)
{
	char chunk[CHUNK];
	ssize_t n = read(*fd, chunk, sizeof(chunk));

	if (n > 0) {
		keep(to, chunk, (size_t)n);
		return true;
	}
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	close(TAKE_FD(*fd));
	return false;
}

static void drain(struct call *c)
{
	int64_t until = clock_boottime_ms() + DRAIN_MS;
	bool more = true;

	while (more && clock_boottime_ms() < until) {
		more = c->pipes[0] >= 0 && read_some(&c->pipes[0], &c->result.out);
		if (c->pipes[1] >= 0 && read_some(&c->pipes[1], &c->result.err))
			more = true;
	}
}

static int poll_timeout(const struct call *c)
{
	if (c->deadline_ms == 0)
		return -1;
	int64_t left = c->deadline_ms - clock_boottime_ms();
	return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

/* Kills once; from then on only the child's end is awaited. */
static void give_up(struct call *c, bool *why)
{
	*why = true;
	c->deadline_ms = 0;
	child_kill(&c->child);
}

static int cancel_of(const struct call *c)
{
	return c->how->cancel_fd >= 0 ? c->how->cancel_fd : cancel_fd();
}

static int step(struct call *c, struct error *err)
{
	bool given_up = c->result.timed_out || c->result.cancelled;
	struct pollfd p[SLOT_COUNT] = {
		[SLOT_OUT] = {.fd = c->pipes[0], .events = POLLIN},
		[SLOT_ERR] = {.fd = c->pipes[1], .events = POLLIN},
		[SLOT_CHILD] = {.fd = c->child.pidfd, .events = POLLIN},
		[SLOT_CANCEL] = {.fd = given_up ? -1 : cancel_of(c), .events = POLLIN},
	};

	if (poll(p, SLOT_COUNT, poll_timeout(c)) < 0) {
		if (errno == EINTR)
			return 0;
		return error_set_errno(err, ERROR_IO, errno, "cannot wait for a child");
	}
	if (p[SLOT_OUT].revents)
		read_some(&c->pipes[0], &c->result.out);
	if (p[SLOT_ERR].revents)
		read_some(&c->pipes[1], &c->result.err);
	if (p[SLOT_CHILD].revents)
		c->ended = true;
	else if (p[SLOT_CANCEL].revents)
		give_up(c, &c->result.cancelled);
	else if (c->deadline_ms && clock_boottime_ms() >= c->deadline_ms)
		give_up(c, &c->result.timed_out);
	return 0;
}

static int make_pipe(int *ret_read, int *ret_write, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot make a pipe");
	*ret_read = ends[0];
	*ret_write = ends[1];
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot set up a pipe");
	return 0;
}

/* Starts the child with both pipes; our copies of its ends are closed again. */
static int begin(struct call *c, const struct spawn *s, struct error *err)
{
	struct spawn with_pipes = *s;
	auto_fd int out = -1;
	auto_fd int errors = -1;

	assert(s->n_fds + 2 <= SPAWN_FDS_MAX);
	if (make_pipe(&c->pipes[0], &out, err) < 0 || make_pipe(&c->pipes[1], &errors, err) < 0)
		return -1;
	with_pipes.new_session = true;
	with_pipes.fds[with_pipes.n_fds++] = (struct spawn_fd){out, STDOUT_FILENO};
	with_pipes.fds[with_pipes.n_fds++] = (struct spawn_fd){errors, STDERR_FILENO};
	if (c->how->timeout_ms > 0)
		c->deadline_ms = clock_boottime_ms() + c->how->timeout_ms;
	return spawn_start_real(&with_pipes, &c->child, err);
}

static void limit(struct str *s, size_t max)
{
	if (s->len > max) {
		s->len = max;
		s->data[max] = '\0';
	}
	s->max = max;
}

static void hand_over(struct call *c, struct captured *ret)
{
	*ret = c->result;
	c->result = (struct captured){0};
}

int spawn_capture(
	const struct spawn *s, const struct capture *how, struct captured *ret, struct error *err)
{
	__attribute__((cleanup(call_done))) struct call c = {
		.how = how,
		.child = CHILD_INIT,
		.pipes = {-1, -1},
		.result = {.out = STR_INIT(SIZE_MAX / 2), .err = STR_INIT(SIZE_MAX / 2)},
	};

	bool answered = spawn_answer(s, &c.result);
	limit(&c.result.out, how->stdout_max);
	limit(&c.result.err, how->stderr_max);
	if (!answered) {
		if (begin(&c, s, err) < 0)
			return -1;
		while (!c.ended)
			if (step(&c, err) < 0)
				return -1;
		drain(&c);
		if (child_wait(&c.child, &c.result.status, err) < 0)
			return -1;
	}
	hand_over(&c, ret);
	return 0;
}
