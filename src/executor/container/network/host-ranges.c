#include "executor/container/network/host-ranges.h"

#include "base/mem.h"
#include "executor/container/network/rtnetlink.h"

void host_ranges_done(struct host_ranges *r)
{
	free(r->v);
	*r = (struct host_ranges){0};
}

/* What one message says: the attributes with an address are of that type. */
struct message {
	struct host_ranges *ranges;
	int family;
	unsigned bits;
	uint16_t type;
};

static int on_attribute(const struct nlattr *a, void *data)
{
	const struct message *m = data;
	struct host_ranges *r = m->ranges;
	struct cidr c = {.address = {.family = m->family}, .bits = m->bits};
	size_t size = m->family == AF_INET ? 4 : 16;

	if (mnl_attr_get_type(a) != m->type || r->n >= HOST_RANGES_MAX ||
		mnl_attr_get_payload_len(a) < size)
		return MNL_CB_OK;
	memcpy(c.address.bytes, mnl_attr_get_payload(a), size);
	r->v = mem_grow(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = c;
	return MNL_CB_OK;
}

static int add(const struct nlmsghdr *head, unsigned body, struct message *m)
{
	if (m->family != AF_INET && m->family != AF_INET6)
		return MNL_CB_OK;
	return mnl_attr_parse(head, body, on_attribute, m);
}

static int on_route(const struct nlmsghdr *head, void *data)
{
	const struct rtmsg *r = mnl_nlmsg_get_payload(head);

	return add(
		head, sizeof(*r), &(struct message){data, r->rtm_family, r->rtm_dst_len, RTA_DST});
}

static int on_address(const struct nlmsghdr *head, void *data)
{
	const struct ifaddrmsg *a = mnl_nlmsg_get_payload(head);

	return add(head, sizeof(*a),
		&(struct message){data, a->ifa_family, a->ifa_prefixlen, IFA_ADDRESS});
}

int host_ranges_read(struct host_ranges *ret, struct error *err)
{
	AUTO(host_ranges) r = {0};
	AUTO(rtnetlink) kernel = RTNETLINK_INIT;
	union rtnetlink_request ask;

	if (rtnetlink_open(&kernel, err) < 0)
		return -1;
	rtnetlink_begin(&ask, RTM_GETROUTE, NLM_F_DUMP, sizeof(struct rtmsg));
	if (rtnetlink_ask(&kernel, &ask, on_route, &r, "reading the routes of this host", err) < 0)
		return -1;
	rtnetlink_begin(&ask, RTM_GETADDR, NLM_F_DUMP, sizeof(struct ifaddrmsg));
	if (rtnetlink_ask(&kernel, &ask, on_address, &r, "reading its addresses", err) < 0)
		return -1;
	*ret = r;
	r = (struct host_ranges){0};
	return 0;
}
