#include "executor/localprocess/local-launch.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/file.h"

int local_launch_write(const struct strv *env, struct error *err)
{
	AUTO(launch) launch = LAUNCH_INIT;

	AUTO(secret) block = {.p = NULL};

	strv_foreach (variable, env)
		if (launch_add(&launch.run_env, *variable) < 0)
			return error_set(err, ERROR_ENV_TOO_MANY, "%zu variables", env->n);
	launch_write(&launch, &block);
	return file_memfd("launch", secret_text(&block), err);
}

int local_launch_read(int fd, struct launch *ret, struct error *err)
{
	AUTO(secret) block = {.p = NULL};

	if (file_read_secret(fd, LAUNCH_BYTES_MAX, &block, err) < 0)
		return error_set(err, ERROR_SHIM_FAILED, "the launch block cannot be read");
	return launch_read(&block, ret, err);
}

int local_launch_receive(int socket, struct error *err)
{
	char byte;
	struct iovec iov = {&byte, 1};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int fd = -1;
	ssize_t r;

	do
		r = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	struct cmsghdr *c = r > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return error_set(err, ERROR_START_CANCELLED, "the dispatcher went away");
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}
