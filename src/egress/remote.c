#include "egress/remote.h"

#include <string.h>

#include "base/cleanup.h"
#include "net/endpoint.h"
#include "net/host-pattern.h"

/* ---- Listening ---- */

static const char *listen_fault(struct text t)
{
	struct endpoint e;

	if (!endpoint_split(t, &e))
		return "an IP address with a port is wanted";
	if (address_unspecified(&e.address))
		return "that is all addresses of this host";
	if (address_loopback(&e.address))
		return "no other machine reaches it";
	if (address_multicast(&e.address) || address_broadcast(&e.address))
		return "it is no address of one host";
	return NULL;
}

int remote_check_listen(struct text t, struct error *err)
{
	const char *fault = listen_fault(t);

	if (!fault)
		return 0;
	return error_set(err, ERROR_EGRESS_LISTEN_INVALID, "%s is nothing to listen on: %s",
		quoted(t), fault);
}

/* ---- Advertising ---- */

/* Names that mean something else, or nothing, on the machine that dials; `.x`: all below it. */
static const char *const elsewhere[] = {"localhost", ".localhost", "host.docker.internal",
	"host.containers.internal", ".svc", ".cluster.local"};

static bool means_elsewhere(struct text name)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (elsewhere[i][0] == '.' ? text_ends(name, elsewhere[i])
					   : text_is(name, elsewhere[i]))
			return true;
	return false;
}

static bool link_local(const struct address *a)
{
	static const struct address blocks[] = {
		{AF_INET, {169, 254}},
		{AF_INET6, {0xfe, 0x80}},
	};
	static const unsigned bits[] = {16, 10};

	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		if (address_same_network(a, &blocks[i], bits[i]))
			return true;
	return false;
}

static const char *address_fault(struct address a)
{
	a = address_unmapped(&a);
	if (address_unspecified(&a))
		return "it is no address of a host";
	if (address_loopback(&a))
		return "on another machine that is the machine itself";
	return link_local(&a) ? "it is good on one link only" : NULL;
}

/* `[IPV6]` or what is before the colon, off the beginning of *t. False: there is no such thing. */
static bool take_host(struct text *t, struct text *ret)
{
	bool bracketed = text_starts(*t, "[");
	const char *end = t->len ? memchr(t->p, bracketed ? ']' : ':', t->len) : NULL;

	if (bracketed && !end)
		return false;
	*ret = (struct text){t->p, end ? (size_t)(end - t->p) : t->len};
	*t = text_after(*t, ret->len + (bracketed ? 1 : 0));
	if (bracketed)
		*ret = text_after(*ret, 1);
	return true;
}

static const char *host_fault(struct text host, bool bracketed)
{
	static const char none[] = "the host is neither a name nor an address";
	char folded[HOST_PATTERN_SIZE];
	struct address a;

	if (address_parse(host, &a))
		return bracketed == (a.family == AF_INET6) ? address_fault(a) : none;
	if (bracketed || !host_pattern_fold_host(host, folded) || strchr(folded, '_'))
		return none;
	return means_elsewhere(text_of(folded)) ? "on another machine that name means another host"
						: NULL;
}

static const char *advertise_fault(struct text t)
{
	struct text host, rest = t;
	struct address bare;
	uint16_t port;

	if (address_parse(t, &bare))
		return address_fault(bare);
	if (!take_host(&rest, &host) || host.len == 0)
		return "it has no host";
	if (rest.len > 0 && (rest.p[0] != ':' || !endpoint_port(text_after(rest, 1), &port)))
		return "a port is a number from 1 to 65535";
	return host_fault(host, text_starts(t, "["));
}

int remote_check_advertise(struct text t, struct error *err)
{
	const char *fault = advertise_fault(t);

	if (!fault)
		return 0;
	return error_set(err, ERROR_EGRESS_ADVERTISE_INVALID,
		"%s cannot be dialled by other machines: %s", quoted(t), fault);
}
