#include "egress/decide.h"

#include "base/enum-text.h"
#include "base/special-address.h"

static const char *const names[] = {
	[EGRESS_VERDICT_ALLOW] = "allow",
	[EGRESS_VERDICT_MALFORMED] = "malformed_request",
	[EGRESS_VERDICT_UNAUTHENTICATED] = "unauthenticated",
	[EGRESS_VERDICT_SESSION_EXPIRED] = "session_expired",
	[EGRESS_VERDICT_TOO_MANY_CONNECTIONS] = "too_many_connections",
	[EGRESS_VERDICT_QUOTA] = "quota_exceeded",
	[EGRESS_VERDICT_METHOD] = "method_not_allowed",
	[EGRESS_VERDICT_PORT] = "port_not_allowed",
	[EGRESS_VERDICT_HOST] = "host_not_allowed",
	[EGRESS_VERDICT_RESOLVE] = "resolve_failed",
	[EGRESS_VERDICT_BLOCKED] = "destination_blocked",
	[EGRESS_VERDICT_DIAL] = "dial_failed",
	[EGRESS_VERDICT_SHUTTING_DOWN] = "shutting_down",
	[EGRESS_VERDICT_BAD_UPSTREAM] = "bad_upstream",
	[EGRESS_VERDICT_DENIED] = "denied",
};
ENUM_TEXT(egress_verdict, names, EGRESS_VERDICT_COUNT)

static const short statuses[] = {
	[EGRESS_VERDICT_ALLOW] = 200,
	[EGRESS_VERDICT_MALFORMED] = 400,
	[EGRESS_VERDICT_UNAUTHENTICATED] = 407,
	[EGRESS_VERDICT_SESSION_EXPIRED] = 407,
	[EGRESS_VERDICT_TOO_MANY_CONNECTIONS] = 503,
	[EGRESS_VERDICT_QUOTA] = 403,
	[EGRESS_VERDICT_METHOD] = 403,
	[EGRESS_VERDICT_PORT] = 403,
	[EGRESS_VERDICT_HOST] = 403,
	[EGRESS_VERDICT_RESOLVE] = 502,
	[EGRESS_VERDICT_BLOCKED] = 403,
	[EGRESS_VERDICT_DIAL] = 502,
	[EGRESS_VERDICT_SHUTTING_DOWN] = 503,
	[EGRESS_VERDICT_BAD_UPSTREAM] = 502,
	[EGRESS_VERDICT_DENIED] = 403,
};
static_assert(ARRAY_SIZE(statuses) == EGRESS_VERDICT_COUNT, "a status for every verdict");

int egress_verdict_status(enum egress_verdict v)
{
	return statuses[v];
}

static bool used_up(uint64_t used, uint64_t budget)
{
	return budget > 0 && used >= budget;
}

static bool method_allowed(const struct egress_grant *g, const char *method)
{
	return strv_has(&g->methods, "*") || strv_has(&g->methods, method);
}

static bool port_allowed(const struct egress_grant *g, uint16_t port)
{
	for (size_t i = 0; i < g->n_ports; i++)
		if (g->ports[i] == port)
			return true;
	return false;
}

static bool name_allowed(const struct egress_grant *g, const char *host)
{
	for (size_t i = 0; i < g->hosts.n; i++)
		if (host_pattern_matches(g->hosts.v[i], host))
			return true;
	return false;
}

enum egress_verdict decide_request(const struct egress_grant *g,
	const struct egress_session_state *s, const struct egress_request *r,
	struct egress_pending *ret)
{
	struct egress_pending p = {.name_matched = name_allowed(g, r->to.host)};

	if (s->expired)
		return EGRESS_VERDICT_SESSION_EXPIRED;
	if (s->connections >= s->max_connections)
		return EGRESS_VERDICT_TOO_MANY_CONNECTIONS;
	if (used_up(s->bytes_up, g->max_bytes_up) || used_up(s->bytes_down, g->max_bytes_down))
		return EGRESS_VERDICT_QUOTA;
	if (!method_allowed(g, r->method))
		return EGRESS_VERDICT_METHOD;
	if (!port_allowed(g, r->to.port))
		return EGRESS_VERDICT_PORT;
	if (!p.name_matched && g->n_cidrs == 0)
		return EGRESS_VERDICT_HOST;
	p.literal = authority_address(&r->to, &p.address);
	*ret = p;
	return EGRESS_VERDICT_ALLOW;
}

/* A range holds it; of a metadata service only one that is exactly it. */
static bool range_holds(const struct egress_grant *g, const struct cidr *host, bool exactly)
{
	for (size_t i = 0; i < g->n_cidrs; i++)
		if (cidr_contains(&g->cidrs[i], host) && (!exactly || cidr_is_host(&g->cidrs[i])))
			return true;
	return false;
}

static enum egress_verdict judge_address(
	const struct egress_grant *g, const struct egress_pending *p, const struct address *a)
{
	struct cidr host = cidr_host(a);
	enum special_class class = special_address_class(a->family, a->bytes);
	bool granted = range_holds(g, &host, class == SPECIAL_METADATA);

	if (class != SPECIAL_NONE && !granted)
		return EGRESS_VERDICT_BLOCKED;
	return p->name_matched || granted ? EGRESS_VERDICT_ALLOW : EGRESS_VERDICT_HOST;
}

enum egress_verdict decide_addresses(const struct egress_grant *g, const struct egress_pending *p,
	const struct address *addresses, size_t n)
{
	enum egress_verdict verdict = n > 0 ? EGRESS_VERDICT_ALLOW : EGRESS_VERDICT_RESOLVE;

	for (size_t i = 0; i < n && verdict == EGRESS_VERDICT_ALLOW; i++)
		verdict = judge_address(g, p, &addresses[i]);
	return verdict;
}
