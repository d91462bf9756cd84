#include "executor/container/driver/handover.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/driver/shim.h"
#include "sys/fault.h"

enum { ANSWER_MAX = 65536 };

int handover_send(int socket, const int *fds, size_t n, struct error *err)
{
	char byte = 'L';
	struct iovec iov = {&byte, 1};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(HANDOVER_FDS_MAX * sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)),
	};
	struct cmsghdr *c = &control.align;

	*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(n * sizeof(int))};
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	if (sendmsg(socket, &m, MSG_NOSIGNAL) != 1)
		return error_set_errno(
			err, ERROR_SHIM_FAILED, errno, "handing the run to its supervisor");
	return 0;
}

/*
 * The supervisor's answer. 0 the workload runs; 1 the supervisor died without one; -1 refused, or
 * cancelled by us: the supervisor sees the shutdown and undoes the start before it answers.
 */
static int wait_for_answer(int socket, int cancel_fd, struct error *err)
{
	auto_free char *bytes = mem_alloc(ANSWER_MAX);
	struct pollfd p[2] = {
		{.fd = socket, .events = POLLIN}, {.fd = cancel_fd, .events = POLLIN}};

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return error_set_errno(err, ERROR_IO, errno, "waiting for the supervisor");
		if (p[1].revents) {
			shutdown(socket, SHUT_WR);
			p[1].fd = -1;
		}
		if (p[0].revents)
			break;
	}
	ssize_t n = recv(socket, bytes, ANSWER_MAX, 0);
	if (n <= 0)
		return 1;
	auto_json *answer = json_read((struct text){bytes, (size_t)n}, ANSWER_MAX,
		"the supervisor's answer", ERROR_SHIM_FAILED, err);
	if (!answer)
		return -1;
	if (json_get_bool(answer, "ok", false))
		return 0;
	error_from_json(err, answer);
	return -1;
}

int handover_run(const struct handover *h, struct error *err)
{
	int ends[2];
	struct child child = CHILD_INIT;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(err, ERROR_IO, errno, "making a socket pair");
	auto_fd int ours = ends[0];
	auto_fd int theirs = ends[1];
	if (fault_hit("start:6-shim") ||
		shim_start(h->home, h->run->handle, h->lock_fd, theirs, &child, err) < 0)
		return error_prefix(err, "starting the supervisor");
	close(TAKE_FD(theirs));
	int r = h->send(h->data, ours, err);
	if (r == 0)
		r = wait_for_answer(ours, h->cancel_fd, err);
	if (r == 1) {
		/* It died: its successor finds out how far it came and ends or continues the run.
		 */
		close(child.pidfd);
		child = CHILD_INIT;
		r = shim_adopt(h->home, h->run->handle, &child, err);
	}
	if (h->ret_supervisor)
		*h->ret_supervisor = child.pidfd;
	else if (child.pidfd >= 0)
		close(child.pidfd);
	return r;
}
