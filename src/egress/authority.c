#include "egress/authority.h"

#include <stdio.h>

#include "net/endpoint.h"

enum { HTTP_PORT = 80 };

static bool bytes_valid(struct text t)
{
	if (t.len == 0 || t.len > AUTHORITY_MAX_BYTES)
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (t.p[i] < 0x21 || t.p[i] > 0x7e || strchr("/?#@%\\", t.p[i]))
			return false;
	return true;
}

/* `[IPV6]` off the beginning of *t. */
static bool take_ipv6(struct text *t, struct authority *ret)
{
	const char *close = memchr(t->p, ']', t->len);
	struct address a;

	if (!close)
		return false;
	struct text inner = {t->p + 1, (size_t)(close - t->p) - 1};
	if (!address_parse(inner, &a) || a.family != AF_INET6)
		return false;
	a = address_unmapped(&a);
	address_text(&a, ret->host);
	*t = text_after(*t, inner.len + 2);
	return true;
}

static bool take_host(struct text *t, struct authority *ret)
{
	const char *colon = memchr(t->p, ':', t->len);
	struct text host = {t->p, colon ? (size_t)(colon - t->p) : t->len};

	if (!host_pattern_fold_host(host, ret->host))
		return false;
	*t = text_after(*t, host.len);
	return true;
}

bool authority_parse(enum authority_form form, struct text t, struct authority *ret)
{
	struct authority a = {.port = HTTP_PORT};

	if (!bytes_valid(t))
		return false;
	if (!(t.p[0] == '[' ? take_ipv6(&t, &a) : take_host(&t, &a)))
		return false;
	if (t.len == 0 && form == AUTHORITY_CONNECT)
		return false;
	if (t.len > 0 && (t.p[0] != ':' || !endpoint_port(text_after(t, 1), &a.port)))
		return false;
	*ret = a;
	return true;
}

void authority_host(const struct authority *a, char out[AUTHORITY_HOST_SIZE])
{
	snprintf(out, AUTHORITY_HOST_SIZE, strchr(a->host, ':') ? "[%s]" : "%s", a->host);
}

bool authority_address(const struct authority *a, struct address *ret)
{
	return address_parse(text_of(a->host), ret);
}
