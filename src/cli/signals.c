#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/mem.h"

/* What would end this process by default and comes from outside; the real-time signals do, too. */
static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
	SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, SIGXCPU};

int signals_catch(struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		sigaddset(&set, deadly[i]);
	for (int n = SIGRTMIN; n <= SIGRTMAX; n++)
		sigaddset(&set, n);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 ? fd : error_set_errno(err, ERROR_IO, errno, "catching signals");
}
