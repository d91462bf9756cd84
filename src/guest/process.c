#include "guest/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024 };

/* For kernels and seccomp profiles that do not know close_range. */
static void close_listed(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		int fd = 0;
		for (const char *c = e->d_name; *c >= '0' && *c <= '9'; c++)
			fd = fd * 10 + (*c - '0');
		if (fd > STDERR_FILENO && fd != dirfd(d))
			close(fd);
	}
	closedir(d);
}

static void tidy_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	if (syscall(SYS_close_range, STDERR_FILENO + 1U, UINT_MAX, 0U) < 0)
		close_listed();
}

int process_prepare(void)
{
	sigset_t all;

	tidy_descriptors();
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	return signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

void process_undumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

uint64_t process_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static bool passed_on(uint32_t n)
{
	return n == SIGHUP || n == SIGINT || n == SIGQUIT || n == SIGUSR1 || n == SIGUSR2 ||
	       n == SIGTERM;
}

void process_read_signals(int signals, struct caught *ret)
{
	struct signalfd_siginfo info[sizeof(ret->numbers) / sizeof(ret->numbers[0])];
	ssize_t n = read(signals, info, sizeof(info));

	*ret = (struct caught){0};
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(info[0]); i++) {
		if (info[i].ssi_signo == SIGCHLD)
			ret->child = true;
		else if (passed_on(info[i].ssi_signo))
			ret->numbers[ret->n++] = info[i].ssi_signo;
	}
}

void process_complain(const char *const *parts)
{
	char line[LINE_MAX_BYTES] = "cloop init: ";
	size_t len = strlen(line);

	for (; *parts; parts++)
		for (const char *c = *parts; *c && len < sizeof(line) - 1; c++)
			line[len++] = *c;
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}
