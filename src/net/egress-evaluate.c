#include "net/egress-evaluate.h"

#include <stdio.h>

#include "net/endpoint.h"

/* Cuts "/tcp", "/udp" or "/icmp" off the end; without one it is tcp. */
static bool take_protocol(struct text *t, enum egress_protocol *ret)
{
	struct text address = {0}, rest = *t;

	*ret = EGRESS_TCP;
	text_split(&rest, '/', &address);
	if (!rest.p)
		return true;
	int protocol = egress_protocol_from_text(rest);
	if (protocol <= EGRESS_ANY)
		return false;
	*ret = (enum egress_protocol)protocol;
	*t = address;
	return true;
}

static bool read_bare(struct text t, struct address *ret)
{
	bool bracketed = text_starts(t, "[") && text_ends(t, "]");
	struct text inner = bracketed ? (struct text){t.p + 1, t.len - 2} : t;

	return address_parse(inner, ret) && (!bracketed || ret->family == AF_INET6);
}

bool egress_evaluate_read(struct text t, struct egress_probe *ret)
{
	struct egress_probe p = {.port = 0};
	struct endpoint e;

	if (!take_protocol(&t, &p.protocol))
		return false;
	if (p.protocol == EGRESS_OTHER) {
		if (!read_bare(t, &p.address))
			return false;
		p.address = address_unmapped(&p.address);
	} else {
		if (!endpoint_split(t, &e))
			return false;
		p.address = e.address;
		p.port = e.port;
	}
	*ret = p;
	return true;
}

void egress_evaluate_text(const struct egress_probe *p, char out[EGRESS_PROBE_SIZE])
{
	struct endpoint e = {p->address, p->port};
	char text[ENDPOINT_TEXT_SIZE];

	if (p->protocol == EGRESS_OTHER)
		address_text(&p->address, text);
	else
		endpoint_text(&e, text);
	snprintf(out, EGRESS_PROBE_SIZE, "%s/%s", text, egress_protocol_text(p->protocol));
}

static bool port_matches(const struct egress_policy *p, const struct egress_rule *r,
	const struct egress_probe *probe)
{
	const uint16_t *ports;
	size_t n = egress_policy_ports(p, r, &ports);

	for (size_t i = 0; i < n; i++)
		if (ports[i] == probe->port)
			return true;
	return n == 0;
}

static bool matches(const struct egress_policy *p, const struct egress_rule *r,
	const struct egress_probe *probe)
{
	if (r->protocol != EGRESS_ANY && r->protocol != probe->protocol)
		return false;
	return cidr_has(&r->to, &probe->address) && port_matches(p, r, probe);
}

const struct egress_rule *egress_evaluate(
	const struct egress_policy *p, const struct egress_probe *probe, unsigned flags)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct egress_rule *r = &p->rules[i];
		if ((flags & EGRESS_WIRE) && r->stage == EGRESS_LOOPBACK)
			continue;
		if ((flags & EGRESS_TO_HOST) && r->stage == EGRESS_PUBLIC)
			continue;
		if (matches(p, r, probe))
			return r;
	}
	return NULL;
}

const char *egress_evaluate_reason(const struct egress_rule *r)
{
	return r ? r->reason : "default deny";
}
