/*
 * What the proxy answers to one request (network.md §13.4). Pure: the look-up is the caller's, in
 * two steps, so that nothing is resolved that is refused without it. Credentials were checked.
 */
#pragma once

#include "egress/authority.h"
#include "egress/grant.h"

enum egress_verdict {
	EGRESS_VERDICT_ALLOW,
	EGRESS_VERDICT_MALFORMED,
	EGRESS_VERDICT_UNAUTHENTICATED,
	EGRESS_VERDICT_SESSION_EXPIRED,
	EGRESS_VERDICT_TOO_MANY_CONNECTIONS,
	EGRESS_VERDICT_QUOTA,
	EGRESS_VERDICT_METHOD,
	EGRESS_VERDICT_PORT,
	EGRESS_VERDICT_HOST,
	EGRESS_VERDICT_RESOLVE,
	EGRESS_VERDICT_BLOCKED,
	EGRESS_VERDICT_DIAL,
	EGRESS_VERDICT_SHUTTING_DOWN,
	EGRESS_VERDICT_BAD_UPSTREAM,
	EGRESS_VERDICT_DENIED,
	EGRESS_VERDICT_COUNT
};
const char *egress_verdict_text(enum egress_verdict v);
int egress_verdict_from_text(struct text t);
/* HTTP status of the answer. */
int egress_verdict_status(enum egress_verdict v);

struct egress_session_state {
	bool expired;
	uint64_t connections, max_connections; /* open now, without this request */
	uint64_t bytes_up, bytes_down;
};

struct egress_request {
	const char *method; /* upper case */
	struct authority to;
};

/* What the first step leaves to the second. */
struct egress_pending {
	bool name_matched;
	bool literal; /* the host is an address: there is nothing to look up */
	struct address address;
};

/* The steps before the addresses are known; _ALLOW: go on with *ret. */
enum egress_verdict decide_request(const struct egress_grant *g,
	const struct egress_session_state *s, const struct egress_request *r,
	struct egress_pending *ret);
/*
 * The addresses of the host, all of them (the literal itself, or one look-up): on _ALLOW these very
 * ones are connected to, in their order. One that is refused refuses the whole answer: who
 * controls a zone mixes them.
 */
enum egress_verdict decide_addresses(const struct egress_grant *g, const struct egress_pending *p,
	const struct address *addresses, size_t n);
