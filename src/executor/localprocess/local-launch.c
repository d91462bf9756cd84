#include "executor/localprocess/local-launch.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/file.h"

enum { LAUNCH_MAX = 96 << 20 };

int local_launch_write(const struct strv *env, struct error *err)
{
	AUTO(launch) launch = LAUNCH_INIT;

	if (strv_add_all(&launch.run_env, env) < 0)
		return error_set(err, ERROR_ENV_TOO_MANY, "%zu variables", env->n);
	auto_json *object = launch_to_json(&launch);
	auto_free char *text = json_write(object);
	int fd = file_memfd("launch", text_of(text), err);
	explicit_bzero(text, strlen(text));
	return fd;
}

int local_launch_read(int fd, struct launch *ret, struct error *err)
{
	AUTO(str) bytes = STR_INIT(LAUNCH_MAX);

	if (lseek(fd, 0, SEEK_SET) < 0 || file_read_fd(fd, LAUNCH_MAX - 1, &bytes, err) != 0)
		return error_set(err, ERROR_SHIM_FAILED, "the launch block cannot be read");
	auto_json *object = json_read((struct text){str_text(&bytes), bytes.len}, LAUNCH_MAX,
		"launch block", ERROR_SHIM_FAILED, err);
	explicit_bzero(bytes.data, bytes.len);
	return object ? launch_from_json(object, ret, err) : -1;
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
