#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "sys/spawn-internal.h"

static void forget(struct child *c)
{
	cleanup_fd(&c->pidfd);
	cleanup_fd(&c->keeper);
	*c = CHILD_INIT;
}

/* 1 = still running. */
static int collect(struct child *c, int flags, int *ret_status, struct error *err)
{
	uint64_t answered;
	int status;
	pid_t r;

	if (c->pid == SPAWN_ANSWERED_PID) {
		if (read(c->pidfd, &answered, sizeof(answered)) != sizeof(answered))
			return error_set_errno(err, ERROR_IO, errno, "cannot wait for a child");
		*ret_status = (int)(answered - 1);
		forget(c);
		return 0;
	}
	if (c->keeper >= 0) {
		if (spawn_keeper_collect(c, flags & WNOHANG, ret_status) > 0)
			return 1;
		forget(c);
		return 0;
	}
	do
		r = waitpid(c->pid, &status, flags);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return 1;
	if (r < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot wait for process %d", (int)c->pid);
	*ret_status = status;
	forget(c);
	return 0;
}

int child_wait(struct child *c, int *ret_status, struct error *err)
{
	return collect(c, 0, ret_status, err);
}

int child_try_wait(struct child *c, int *ret_status, struct error *err)
{
	return collect(c, WNOHANG, ret_status, err);
}

void child_kill(struct child *c)
{
	if (c->pid <= 1 || c->pid == SPAWN_ANSWERED_PID)
		return;
	if (c->keeper >= 0) {
		spawn_keeper_kill(c);
		return;
	}
	/* Not yet collected, so the number cannot mean anybody else. */
	kill(getpgid(c->pid) == c->pid ? -c->pid : c->pid, SIGKILL);
}

void child_done(struct child *c)
{
	auto_error struct error ignored = ERROR_INIT;
	int status;

	child_kill(c);
	if (c->pid <= 0 || child_wait(c, &status, &ignored) < 0)
		forget(c);
}
