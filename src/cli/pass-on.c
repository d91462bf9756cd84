#include "cli/pass-on.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/unblocked.h"
#include "executor/runlog/log-reader.h"

/* Events of the log that come closer together than this are looked at together. */
enum { LOG_PAUSE_MS = 5, PIPE_SIZE = 1 << 20 };
/* Less than this is copied: a pipe has a slot for each page, however little is in it. */
enum { SPLICE_MIN = 16 << 10 };

void pass_on_done(struct pass_on *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->to); i++)
		if (p->to[i].own > 0)
			close(p->to[i].own);
}

/* A file never blocks, a pipe or terminal does not when it is opened so. */
static struct pass_on_target look_at(int fd)
{
	struct pass_on_target to = {.known = true, .most = PIPE_BUF};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return to;
	if (S_ISREG(st.st_mode))
		to.most = SIZE_MAX;
	int own = unblocked_open(fd);
	if (own > 0)
		to.own = own;
	if (own > 0 && S_ISFIFO(st.st_mode)) {
		fcntl(own, F_SETPIPE_SZ, PIPE_SIZE); /* may be refused: slower */
		to.most = SIZE_MAX;
		to.pipe = true;
	}
	return to;
}

static void look_after_signals(struct pass_on *p)
{
	struct pollfd signals = {.fd = p->signals, .events = POLLIN};

	if (poll(&signals, 1, 0) > 0)
		p->on_signal(p->data);
}

/* Until fd can be written, or is broken. */
static void wait_ready(struct pass_on *p, int fd)
{
	bool keep = p->reader, pause = false;

	for (;;) {
		struct pollfd fds[] = {{.fd = fd, .events = POLLOUT},
			{.fd = p->signals, .events = POLLIN},
			{.fd = keep && !pause ? log_reader_fd(p->reader) : -1, .events = POLLIN}};
		if (poll(fds, ARRAY_SIZE(fds), keep && pause ? LOG_PAUSE_MS : -1) < 0)
			continue;
		if (fds[1].revents)
			p->on_signal(p->data);
		if (fds[0].revents || p->enough)
			return;
		pause = fds[2].revents != 0;
		if (pause)
			keep = log_reader_keep(p->reader);
	}
}

static void give_up(struct pass_on *p, int fd, int errnum)
{
	p->gone[fd] = true;
	if (errnum != EPIPE)
		fprintf(stderr, "cloop: passing the output on: %s%s\n", strerror(errnum),
			p->reader ? "; the run's log has all of it" : "");
}

static struct pass_on_target *target_of(struct pass_on *p, int fd)
{
	struct pass_on_target *to = &p->to[fd];

	if (!to->known)
		*to = look_at(fd);
	return to;
}

/* After a write of n bytes, or one that failed: how many of them count. */
static size_t written(struct pass_on *p, int fd, ssize_t n)
{
	if (n >= 0)
		return (size_t)n;
	if (errno == EAGAIN)
		wait_ready(p, p->to[fd].own > 0 ? p->to[fd].own : fd);
	else if (errno != EINTR)
		give_up(p, fd, errno);
	return 0;
}

void pass_on_write(struct pass_on *p, int fd, struct text bytes)
{
	struct pass_on_target *to = target_of(p, fd);
	int own = to->own > 0 ? to->own : fd;

	look_after_signals(p);
	while (bytes.len > 0 && !p->gone[fd] && !p->enough) {
		if (to->most == PIPE_BUF)
			wait_ready(p, own);
		if (p->enough)
			return;
		size_t n = written(
			p, fd, write(own, bytes.p, bytes.len < to->most ? bytes.len : to->most));
		bytes = (struct text){bytes.p + n, bytes.len - n};
	}
}

void pass_on_frame(struct pass_on *p, int fd, struct text payload)
{
	struct pass_on_target *to = target_of(p, fd);
	uint64_t offset = 0;
	int file = p->reader ? log_reader_file(p->reader, &offset) : -1;
	loff_t at = (loff_t)offset;

	look_after_signals(p);
	while (to->pipe && file >= 0 && payload.len >= SPLICE_MIN && !p->gone[fd]) {
		ssize_t n = splice(
			file, &at, to->own, NULL, payload.len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
		if (n == 0 || (n < 0 && errno == EINVAL)) {
			to->pipe = false;
			break;
		}
		size_t passed = written(p, fd, n);
		payload = (struct text){payload.p + passed, payload.len - passed};
	}
	pass_on_write(p, fd, payload);
}
