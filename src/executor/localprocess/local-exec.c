#include "executor/localprocess/local-exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/container/init/search.h"
#include "executor/localprocess/local-launch.h"

enum { NOT_STARTED = 127 };

static bool told_to_go(void)
{
	char byte;
	ssize_t n;

	do
		n = recv(LOCAL_EXEC_SOCKET, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

int local_exec(char *const words[])
{
	static char *const nothing[] = {NULL};
	auto_error struct error err = ERROR_INIT;
	AUTO(launch) launch = LAUNCH_INIT;
	struct init_failure failure = {.error = EIO, .step = INIT_STEP_SETUP};

	fcntl(LOCAL_EXEC_SOCKET, F_SETFD, FD_CLOEXEC);
	fcntl(LOCAL_EXEC_LAUNCH, F_SETFD, FD_CLOEXEC);
	/* A parent that died before this closed the socket. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || !told_to_go())
		return NOT_STARTED;
	if (local_launch_read(LOCAL_EXEC_LAUNCH, &launch, &err) == 0)
		search_exec(words, launch.run_env.n ? launch.run_env.v : nothing, &failure);
	(void)!send(LOCAL_EXEC_SOCKET, &failure, sizeof(failure), MSG_NOSIGNAL);
	return NOT_STARTED;
}
