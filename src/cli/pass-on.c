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
enum { LOG_PAUSE_MS = 5, PIPE_SIZE = 256 << 10 };

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
		if (fds[0].revents)
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
		fprintf(stderr, "cloop: passing the output on: %s; the run's log has all of it\n",
			strerror(errnum));
}

void pass_on_write(struct pass_on *p, int fd, struct text bytes)
{
	struct pass_on_target *to = &p->to[fd];

	if (!to->known)
		*to = look_at(fd);
	int own = to->own > 0 ? to->own : fd;
	look_after_signals(p);
	while (bytes.len > 0 && !p->gone[fd]) {
		if (to->most == PIPE_BUF)
			wait_ready(p, own);
		ssize_t n = write(own, bytes.p, bytes.len < to->most ? bytes.len : to->most);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			give_up(p, fd, errno);
		else if (n < 0 && errno == EAGAIN)
			wait_ready(p, own);
		if (n > 0)
			bytes = (struct text){bytes.p + n, bytes.len - (size_t)n};
	}
}
