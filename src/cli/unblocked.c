#include "cli/unblocked.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "sys/clock.h"

enum { STUCK_MS = 200, PAUSE_MS = 5 };
enum { FLAGS = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

int unblocked_open(int fd)
{
	struct stat st;
	char path[64];

	if (fstat(fd, &st) < 0 || !(S_ISFIFO(st.st_mode) || isatty(fd)))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int own = open(path, FLAGS);
	/* After su, the terminal is another user's, and still the one that we were started at. */
	if (own < 0 && isatty(fd) && tcgetsid(fd) == getsid(0))
		own = open("/dev/tty", FLAGS);
	return own;
}

void unblocked_done(struct unblocked *u)
{
	if (u->own >= 0)
		close(u->own);
	u->own = -1;
}

static void look(struct unblocked *u)
{
	u->looked = true;
	u->own = unblocked_open(u->fd);
	u->never = u->own < 0 && isatty(u->fd);
}

static ssize_t write_some(const struct unblocked *u, struct text t)
{
	if (u->own >= 0)
		return write(u->own, t.p, t.len);
	ssize_t n = send(u->fd, t.p, t.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	return n < 0 && errno == ENOTSOCK ? write(u->fd, t.p, t.len) : n;
}

static bool is_ready(const struct unblocked *u, int64_t until_ms)
{
	int64_t left = until_ms - clock_boottime_ms();
	struct pollfd p = {.fd = u->own >= 0 ? u->own : u->fd, .events = POLLOUT};

	return poll(&p, 1, left > 0 ? (int)left : 0) == 1 && (p.revents & POLLOUT);
}

void unblocked_write(struct unblocked *u, struct text t)
{
	if (!u->looked)
		look(u);
	int64_t until = clock_boottime_ms() + (u->stuck ? 0 : STUCK_MS);
	while (t.len > 0 && !u->never && is_ready(u, until)) {
		ssize_t n = write_some(u, t);
		if (n > 0)
			t = text_after(t, (size_t)n);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			break;
		else if (clock_boottime_ms() >= until)
			break;
		else
			clock_sleep_ms(PAUSE_MS); /* a terminal can be ready for less than a LF */
	}
	u->stuck = t.len > 0;
}
