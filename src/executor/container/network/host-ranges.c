#include "executor/container/network/host-ranges.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

enum { ANSWER_SIZE = 64 << 10 };

void host_ranges_done(struct host_ranges *r)
{
	free(r->v);
	*r = (struct host_ranges){0};
}

static void add(struct host_ranges *r, int family, unsigned bits, struct rtattr *a)
{
	struct cidr c = {.address = {.family = family}, .bits = bits};
	size_t size = family == AF_INET ? 4 : 16;

	if (r->n >= HOST_RANGES_MAX || RTA_PAYLOAD(a) < size)
		return;
	memcpy(c.address.bytes, RTA_DATA(a), size);
	r->v = mem_grow(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = c;
}

static void walk(struct host_ranges *r, struct nlmsghdr *m)
{
	const struct rtmsg *route = NLMSG_DATA(m);
	const struct ifaddrmsg *address = NLMSG_DATA(m);
	bool is_route = m->nlmsg_type == RTM_NEWROUTE;
	size_t head = NLMSG_ALIGN(is_route ? sizeof(*route) : sizeof(*address));
	int family = is_route ? route->rtm_family : address->ifa_family;
	unsigned bits = is_route ? route->rtm_dst_len : address->ifa_prefixlen;
	unsigned short wanted = is_route ? RTA_DST : IFA_ADDRESS;

	if (m->nlmsg_len < NLMSG_LENGTH(head) || (family != AF_INET && family != AF_INET6))
		return;
	struct rtattr *a = (struct rtattr *)((char *)NLMSG_DATA(m) + head);
	int left = (int)(m->nlmsg_len - NLMSG_LENGTH(head));
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == wanted)
			add(r, family, bits, a);
}

/*
 * 1: the dump has ended; 0: there is more; -1. The kernel's macros take const away, so that nothing
 * of it is const here.
 */
static int take(struct host_ranges *r, char *bytes, ssize_t n)
{
	unsigned left = (unsigned)n;

	for (struct nlmsghdr *m = (struct nlmsghdr *)bytes; NLMSG_OK(m, left);
		m = NLMSG_NEXT(m, left)) {
		if (m->nlmsg_type == NLMSG_DONE)
			return 1;
		if (m->nlmsg_type == NLMSG_ERROR)
			return -1;
		if (m->nlmsg_type == RTM_NEWROUTE || m->nlmsg_type == RTM_NEWADDR)
			walk(r, m);
	}
	return 0;
}

static int dump(int fd, unsigned short kind, struct host_ranges *r, struct error *err)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg body;
	} ask = {.head = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = kind,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
	auto_free char *bytes = mem_alloc(ANSWER_SIZE);
	ssize_t n = send(fd, &ask, sizeof(ask), 0);
	int done = n < 0 ? -1 : 0;

	while (done == 0) {
		n = recv(fd, bytes, ANSWER_SIZE, 0);
		done = n > 0 ? take(r, bytes, n) : n < 0 && errno == EINTR ? 0 : -1;
	}
	return done > 0 ? 0
			: error_set_errno(err, ERROR_IO, errno, "reading the routes of this host");
}

int host_ranges_read(struct host_ranges *ret, struct error *err)
{
	AUTO(host_ranges) r = {0};
	auto_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return error_set_errno(err, ERROR_IO, errno, "opening a netlink socket");
	if (dump(fd, RTM_GETROUTE, &r, err) < 0 || dump(fd, RTM_GETADDR, &r, err) < 0)
		return -1;
	*ret = r;
	r = (struct host_ranges){0};
	return 0;
}
