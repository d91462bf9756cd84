#include "executor/container/init/init-socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	/* More than any message has, so that one too many is seen as such, not cut off. */
	CONTROL_FDS = 8,
};

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(CONTROL_FDS * sizeof(int))];
};

int init_socket_send(int socket, const struct init_message *m, const int *fds)
{
	uint8_t bytes[INIT_MESSAGE_MAX];
	union control control = {0};
	size_t len = init_message_encode(m, bytes), n = init_message_fds(m);
	struct iovec part = {bytes, len};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (len == 0 || (n > 0 && !fds)) {
		errno = EINVAL;
		return -1;
	}
	if (n > 0) {
		header.msg_control = control.bytes;
		header.msg_controllen = (socklen_t)CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = (socklen_t)CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	ssize_t sent;
	do
		sent = sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

/* Moves the first descriptors of a control message to p, closes the others, counts them all. */
static size_t take_fds(const struct cmsghdr *c, size_t have, struct init_packet *p)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < n; i++) {
		int fd;
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
		if (have + i < INIT_MESSAGE_FDS_MAX)
			p->fds[have + i] = fd;
		else
			close(fd);
	}
	return n;
}

void init_packet_drop_fds(struct init_packet *p)
{
	for (size_t i = 0; i < INIT_MESSAGE_FDS_MAX; i++) {
		if (p->fds[i] >= 0)
			close(p->fds[i]);
		p->fds[i] = -1;
	}
}

static size_t take_all_fds(struct msghdr *header, struct init_packet *p)
{
	size_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			n += take_fds(c, n, p);
	return n;
}

static enum init_received judge(
	enum init_side from, struct msghdr *header, size_t len, struct init_packet *p)
{
	size_t fds = take_all_fds(header, p);

	/* An empty packet cannot be told from the end, unless descriptors came with it. */
	if (len == 0 && fds == 0)
		return INIT_RECEIVED_END;
	if (header->msg_flags & MSG_CTRUNC)
		fds = SIZE_MAX;
	p->fault = init_message_decode(from, p->bytes, len, fds, &p->message);
	if (p->fault == INIT_FAULT_NONE)
		return INIT_RECEIVED_MESSAGE;
	init_packet_drop_fds(p);
	return INIT_RECEIVED_FAULT;
}

enum init_received init_socket_receive(int socket, enum init_side from, struct init_packet *p)
{
	union control control;
	struct iovec part = {p->bytes, sizeof(p->bytes)};
	struct msghdr header = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t n;

	for (size_t i = 0; i < INIT_MESSAGE_FDS_MAX; i++)
		p->fds[i] = -1;
	p->fault = INIT_FAULT_NONE;
	p->error = 0;
	do
		n = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return judge(from, &header, (size_t)n, p);
	if (errno == EAGAIN)
		return INIT_RECEIVED_NOTHING;
	p->error = errno;
	return INIT_RECEIVED_END;
}
