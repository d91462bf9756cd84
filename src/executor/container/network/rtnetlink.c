#include "executor/container/network/rtnetlink.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

enum { ANSWER_SIZE = 64 << 10, ATTEMPTS = 16 };

void rtnetlink_done(struct rtnetlink *r)
{
	if (r->socket)
		(void)mnl_socket_close(r->socket);
	*r = RTNETLINK_INIT;
}

int rtnetlink_open(struct rtnetlink *ret, struct error *err)
{
	*ret = (struct rtnetlink){.socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC)};
	if (ret->socket && mnl_socket_bind(ret->socket, 0, MNL_SOCKET_AUTOPID) == 0)
		return 0;
	error_set_errno(err, ERROR_IO, errno, "opening a netlink socket");
	rtnetlink_done(ret);
	return -1;
}

void *rtnetlink_begin(
	union rtnetlink_request *ret, unsigned short kind, unsigned short flags, size_t body)
{
	struct nlmsghdr *head = mnl_nlmsg_put_header(ret);

	head->nlmsg_type = kind;
	head->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	return mnl_nlmsg_put_extra_header(head, body);
}

/* 0 the answer has ended; -1 and errno. */
static int receive(struct rtnetlink *r, mnl_cb_t fn, void *data)
{
	auto_free char *bytes = mem_alloc(ANSWER_SIZE);
	unsigned port = mnl_socket_get_portid(r->socket);
	int more = MNL_CB_OK;

	while (more == MNL_CB_OK) {
		ssize_t n = mnl_socket_recvfrom(r->socket, bytes, ANSWER_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		more = n < 0 ? MNL_CB_ERROR
			     : mnl_cb_run(bytes, (size_t)n, r->sequence, port, fn, data);
	}
	return more == MNL_CB_STOP ? 0 : -1;
}

static int ask(struct rtnetlink *r, union rtnetlink_request *request, mnl_cb_t fn, void *data)
{
	struct nlmsghdr *head = &request->head;

	head->nlmsg_seq = ++r->sequence;
	return mnl_socket_sendto(r->socket, head, head->nlmsg_len) < 0 ? -1 : receive(r, fn, data);
}

int rtnetlink_ask(struct rtnetlink *r, union rtnetlink_request *request, mnl_cb_t fn, void *data,
	const char *doing, struct error *err)
{
	struct nlmsghdr *head = &request->head;

	/* NLM_F_DUMP is two bits, and those of other requests mean something else. */
	if ((head->nlmsg_flags & NLM_F_DUMP) != NLM_F_DUMP)
		head->nlmsg_flags |= NLM_F_ACK;
	int status = ask(r, request, fn, data);
	/* What is dumped changed meanwhile; the rest of that answer goes with its socket. */
	for (int i = 0; status < 0 && errno == EINTR && i < ATTEMPTS; i++) {
		rtnetlink_done(r);
		if (rtnetlink_open(r, err) < 0)
			return -1;
		status = ask(r, request, fn, data);
	}
	int why = errno;
	if (status < 0)
		error_set_errno(err, ERROR_IO, why, "%s", doing);
	errno = why;
	return status;
}
