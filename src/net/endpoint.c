#include "net/endpoint.h"

#include <stdio.h>

#include "base/num.h"
#include "base/special-address.h"
#include "net/cidr.h"

enum { DNS_PORT = 53 };

bool endpoint_port(struct text t, uint16_t *ret)
{
	uint64_t n;

	if (num_parse(t, UINT16_MAX, &n) != NUM_OK || n == 0)
		return false;
	*ret = (uint16_t)n;
	return true;
}

/* `[IPV6]` at the beginning of *t, which is what follows afterwards. */
static bool take_bracketed(struct text *t, struct address *ret)
{
	const char *close = memchr(t->p, ']', t->len);

	if (!close)
		return false;
	struct text inner = {t->p + 1, (size_t)(close - t->p) - 1};
	if (!address_parse(inner, ret) || ret->family != AF_INET6)
		return false;
	*t = text_after(*t, inner.len + 2);
	return true;
}

static bool take_ipv4(struct text *t, struct address *ret)
{
	struct text rest = *t, address = {0};

	text_split(&rest, ':', &address);
	if (!address_parse(address, ret) || ret->family != AF_INET)
		return false;
	*t = text_after(*t, address.len);
	return true;
}

bool endpoint_split(struct text t, struct endpoint *ret)
{
	struct endpoint e;
	bool bracketed = text_starts(t, "[");

	if (!(bracketed ? take_bracketed(&t, &e.address) : take_ipv4(&t, &e.address)))
		return false;
	if (!text_starts(t, ":") || !endpoint_port(text_after(t, 1), &e.port))
		return false;
	e.address = address_unmapped(&e.address);
	*ret = e;
	return true;
}

static bool split_resolver(struct text t, struct endpoint *ret)
{
	struct endpoint e = {.port = DNS_PORT};
	struct text rest = t;

	if (endpoint_split(t, ret))
		return true;
	if (!address_parse(t, &e.address) &&
		!(text_starts(t, "[") && take_bracketed(&rest, &e.address) && rest.len == 0))
		return false;
	e.address = address_unmapped(&e.address);
	*ret = e;
	return true;
}

/* Why a sandbox is not to be sent there, or NULL. */
static const char *refused(enum endpoint_role role, const struct endpoint *e)
{
	switch (special_address_class(e->address.family, e->address.bytes)) {
	case SPECIAL_UNSPECIFIED:
	case SPECIAL_THIS_NETWORK:
		return "it is no address of a host";
	case SPECIAL_LOOPBACK:
		return "inside a sandbox that is the sandbox itself";
	case SPECIAL_MULTICAST:
	case SPECIAL_BROADCAST:
		return "it is no address of one host";
	case SPECIAL_METADATA:
		if (role == ENDPOINT_RESOLVER && e->port == DNS_PORT)
			return NULL;
		return "it would open a cloud metadata service";
	default:
		return NULL;
	}
}

int endpoint_parse(enum endpoint_role role, struct text t, struct endpoint *ret, struct error *err)
{
	bool resolver = role == ENDPOINT_RESOLVER;
	struct text inner = cidr_trim(t);
	struct endpoint e;
	const char *why = resolver ? "an IP address, with its port if it is not 53"
				   : "an IP address with a port is wanted, not a name";

	if (resolver ? split_resolver(inner, &e) : endpoint_split(inner, &e)) {
		why = refused(role, &e);
		if (!why) {
			*ret = e;
			return 0;
		}
	}
	return error_set(err,
		resolver ? ERROR_EGRESS_RESOLVER_INVALID : ERROR_EGRESS_BROKER_INVALID,
		"%s is no %s: %s", quoted(t), resolver ? "resolver" : "broker", why);
}

void endpoint_text(const struct endpoint *e, char out[ENDPOINT_TEXT_SIZE])
{
	char address[INET6_ADDRSTRLEN];

	address_text(&e->address, address);
	snprintf(out, ENDPOINT_TEXT_SIZE, e->address.family == AF_INET6 ? "[%s]:%u" : "%s:%u",
		address, (unsigned)e->port);
}

int endpoint_compare(const struct endpoint *a, const struct endpoint *b)
{
	int order = address_compare(&a->address, &b->address);

	return order != 0 ? order : (int)a->port - (int)b->port;
}

static int compare(const void *a, const void *b)
{
	return endpoint_compare(a, b);
}

size_t endpoint_normalize(struct endpoint *list, size_t n)
{
	size_t kept = 0;

	if (n > 0)
		qsort(list, n, sizeof(*list), compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || endpoint_compare(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	return kept;
}
