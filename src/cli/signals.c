#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

int signals_catch(struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 ? fd : error_set_errno(err, ERROR_IO, errno, "catching signals");
}
