#include "cli/pass-on.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe that is ready takes this much without blocking (pipe(7)). */
enum { READY_BYTES = PIPE_BUF };

static bool never_blocks(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* Until fd can be written, or is broken. */
static void wait_ready(struct pass_on *p, int fd)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLOUT}, {.fd = p->signals, .events = POLLIN}};

	do {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			p->on_signal(p->data);
	} while (!fds[0].revents);
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
	size_t most = never_blocks(fd) ? SIZE_MAX : READY_BYTES;

	while (bytes.len > 0 && !p->gone[fd]) {
		if (most == READY_BYTES)
			wait_ready(p, fd);
		ssize_t n = write(fd, bytes.p, bytes.len < most ? bytes.len : most);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			give_up(p, fd, errno);
		if (n > 0)
			bytes = (struct text){bytes.p + n, bytes.len - (size_t)n};
	}
}
