/*
 * The child has a pipe that closes when its exec goes through; before that it writes the failure
 * into it. So the end of the pipe without a word is the success.
 */
#include "guest/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/container/init/search.h"

enum {
	SIGNAL_LAST = 64,
	SIGNAL_SET_BYTES = SIGNAL_LAST / 8,
	EXIT_NOT_STARTED = 127,
};

/*
 * By the kernel's own call: musl's sigaction() keeps three numbers for itself, and an ignored one
 * would stay ignored in the workload. Zeros are SIG_DFL without flags, whatever the layout.
 */
static void default_signals(void)
{
	static const unsigned long zeros[8];
	sigset_t none;

	for (int n = 1; n <= SIGNAL_LAST; n++)
		syscall(SYS_rt_sigaction, n, zeros, NULL, SIGNAL_SET_BYTES);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int place(int from, int to)
{
	if (from == to)
		return 0;
	return dup2(from, to) < 0 ? -1 : 0;
}

static int set_up(const struct launch *l)
{
	int in = l->stdio[0];

	if (setsid() < 0)
		return -1;
	if (in < 0)
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || place(in, 0) < 0 || place(l->stdio[1], 1) < 0 || place(l->stdio[2], 2) < 0)
		return -1;
	if (l->terminal && ioctl(0, TIOCSCTTY, 0) < 0)
		return -1;
	if (l->directory && chdir(l->directory) < 0)
		return -1;
	default_signals();
	return 0;
}

static _Noreturn void become(const struct launch *l, int result)
{
	struct init_failure f = {.step = INIT_STEP_SETUP};

	if (set_up(l) < 0)
		f.error = (uint32_t)errno;
	else
		search_exec(l->argv, l->envp, &f);
	if (write(result, &f, sizeof(f)) < 0)
		_exit(EXIT_NOT_STARTED);
	_exit(EXIT_NOT_STARTED);
}

int launch_start(const struct launch *l, struct launched *ret, struct init_failure *f)
{
	int ends[2];

	*f = (struct init_failure){.step = INIT_STEP_FORK};
	if (pipe2(ends, O_CLOEXEC) < 0) {
		f->error = (uint32_t)errno;
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0)
		become(l, ends[1]);
	int error = errno;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		f->error = (uint32_t)error;
		return -1;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*ret = (struct launched){pid, ends[0]};
	return 0;
}

enum launch_outcome launch_result(int *result, struct init_failure *f)
{
	ssize_t n = read(*result, f, sizeof(*f));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return LAUNCH_PENDING;
	close(*result);
	*result = -1;
	return n == sizeof(*f) ? LAUNCH_FAILED : LAUNCH_RUNS;
}

enum launch_outcome launch_wait(int *result, struct init_failure *f)
{
	enum launch_outcome outcome;

	while ((outcome = launch_result(result, f)) == LAUNCH_PENDING) {
		struct pollfd p = {.fd = *result, .events = POLLIN};
		poll(&p, 1, -1);
	}
	return outcome;
}
