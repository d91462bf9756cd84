#include "cli/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

void terminal_raw(struct terminal *t, int fd, bool keep_signals)
{
	struct termios raw;

	if (tcgetattr(fd, &t->before) < 0)
		return;
	raw = t->before;
	cfmakeraw(&raw);
	if (keep_signals) {
		raw.c_lflag |= ISIG;
		raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* nobody could set it right while we sleep */
	}
	if (tcsetattr(fd, TCSADRAIN, &raw) == 0)
		t->fd = fd;
}

void terminal_restore(struct terminal *t)
{
	sigset_t stop, before;

	if (t->fd < 0)
		return;
	/* Also from the background. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	sigprocmask(SIG_BLOCK, &stop, &before);
	tcsetattr(t->fd, TCSAFLUSH, &t->before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	t->fd = -1;
}

void terminal_size(int fd, uint16_t *ret_rows, uint16_t *ret_columns)
{
	struct winsize size = {0};

	(void)ioctl(fd, TIOCGWINSZ, &size);
	*ret_rows = size.ws_row;
	*ret_columns = size.ws_col;
}
