#include "executor/container/network/bridge-port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/net_namespace.h>
#include <net/if.h>

#include "executor/container/network/rtnetlink.h"

enum { PORTS_MAX = 4096, NO_ID = -1 };

struct port {
	unsigned index, master;
	int id; /* of the namespace that its other end is in */
};

/* What a dump of the links looks for; the id that is wanted is known afterwards. */
struct search {
	unsigned bridge;
	struct port ports[PORTS_MAX];
	size_t n;
};

static int on_attribute(const struct nlattr *a, void *data)
{
	struct port *p = data;

	if (mnl_attr_get_type(a) == IFLA_MASTER)
		p->master = mnl_attr_get_u32(a);
	else if (mnl_attr_get_type(a) == IFLA_LINK_NETNSID)
		p->id = (int)mnl_attr_get_u32(a);
	return MNL_CB_OK;
}

static int on_link(const struct nlmsghdr *head, void *data)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(head);
	struct port p = {.index = (unsigned)link->ifi_index, .id = NO_ID};
	struct search *s = data;

	if (mnl_attr_parse(head, sizeof(*link), on_attribute, &p) < 0)
		return MNL_CB_ERROR;
	if (p.master == s->bridge && p.id != NO_ID && s->n < PORTS_MAX)
		s->ports[s->n++] = p;
	return MNL_CB_OK;
}

static int on_id_attribute(const struct nlattr *a, void *data)
{
	if (mnl_attr_get_type(a) == NETNSA_NSID)
		*(int *)data = (int)mnl_attr_get_u32(a);
	return MNL_CB_OK;
}

static int on_id(const struct nlmsghdr *head, void *data)
{
	return mnl_attr_parse(head, sizeof(struct rtgenmsg), on_id_attribute, data);
}

/* A dump gives every namespace that a link leads to its id. */
static int list(struct rtnetlink *r, struct search *s, struct error *err)
{
	union rtnetlink_request ask;

	rtnetlink_begin(&ask, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	return rtnetlink_ask(r, &ask, on_link, s, "listing the network interfaces", err);
}

static int id_of(struct rtnetlink *r, int namespace, int *ret, struct error *err)
{
	union rtnetlink_request ask;

	*ret = NO_ID;
	rtnetlink_begin(&ask, RTM_GETNSID, 0, sizeof(struct rtgenmsg));
	mnl_attr_put_u32(&ask.head, NETNSA_FD, (uint32_t) namespace);
	return rtnetlink_ask(r, &ask, on_id, ret, "finding the sandbox's network namespace", err);
}

int bridge_port_find(const char *bridge, int namespace, unsigned *ret, struct error *err)
{
	AUTO(rtnetlink) r = RTNETLINK_INIT;
	struct search s = {.bridge = if_nametoindex(bridge)};
	int id;

	*ret = 0;
	if (s.bridge == 0)
		return 0;
	if (rtnetlink_open(&r, err) < 0 || list(&r, &s, err) < 0 ||
		id_of(&r, namespace, &id, err) < 0)
		return -1;
	for (size_t i = 0; i < s.n && id != NO_ID; i++)
		if (s.ports[i].id == id)
			*ret = s.ports[i].index;
	return 0;
}

/* A request about that link, and the socket that it goes by. */
static int begin_link(struct rtnetlink *r, union rtnetlink_request *ask, unsigned short kind,
	unsigned port, struct error *err)
{
	if (rtnetlink_open(r, err) < 0)
		return -1;
	struct ifinfomsg *link = rtnetlink_begin(ask, kind, 0, sizeof(*link));
	link->ifi_index = (int)port;
	return 0;
}

int bridge_port_isolate(unsigned port, struct error *err)
{
	AUTO(rtnetlink) r = RTNETLINK_INIT;
	union rtnetlink_request ask;

	if (begin_link(&r, &ask, RTM_NEWLINK, port, err) < 0)
		return -1;
	struct nlattr *info = mnl_attr_nest_start(&ask.head, IFLA_LINKINFO);
	mnl_attr_put_strz(&ask.head, IFLA_INFO_SLAVE_KIND, "bridge");
	struct nlattr *data = mnl_attr_nest_start(&ask.head, IFLA_INFO_SLAVE_DATA);
	mnl_attr_put_u8(&ask.head, IFLA_BRPORT_ISOLATED, 1);
	mnl_attr_nest_end(&ask.head, data);
	mnl_attr_nest_end(&ask.head, info);
	return rtnetlink_ask(&r, &ask, NULL, NULL, "isolating the sandbox's port", err);
}

int bridge_port_delete(unsigned port, struct error *err)
{
	AUTO(rtnetlink) r = RTNETLINK_INIT;
	union rtnetlink_request ask;

	if (begin_link(&r, &ask, RTM_DELLINK, port, err) < 0)
		return -1;
	if (rtnetlink_ask(&r, &ask, NULL, NULL, "removing the sandbox's port", err) == 0)
		return 0;
	if (errno != ENODEV)
		return -1;
	error_clear(err);
	return 0;
}

int bridge_port_address(const char *bridge, const char *address, unsigned bits, struct error *err)
{
	AUTO(rtnetlink) r = RTNETLINK_INIT;
	union rtnetlink_request ask;
	struct in_addr in;

	if (inet_pton(AF_INET, address, &in) != 1)
		return error_set(err, ERROR_IO, "%s is no IPv4 address", address);
	if (rtnetlink_open(&r, err) < 0)
		return -1;
	struct ifaddrmsg *a =
		rtnetlink_begin(&ask, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*a));
	a->ifa_family = AF_INET;
	a->ifa_prefixlen = (uint8_t)bits;
	a->ifa_index = if_nametoindex(bridge);
	mnl_attr_put_u32(&ask.head, IFA_LOCAL, in.s_addr);
	mnl_attr_put_u32(&ask.head, IFA_ADDRESS, in.s_addr);
	return rtnetlink_ask(&r, &ask, NULL, NULL, "giving the bridge its address", err);
}
