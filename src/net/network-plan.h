/*
 * Which network a run gets (network.md §9): a function of the executor, its filter and the run's
 * wishes. Pure; nothing is made here.
 */
#pragma once

#include "net/egress-policy.h"

enum network_plan_kind {
	NETWORK_PLAN_NONE,       /* no interface but loopback */
	NETWORK_PLAN_RUN,        /* a filtered network of the run's own */
	NETWORK_PLAN_INTERNAL,   /* without a route off the host */
	NETWORK_PLAN_CONFIGURED, /* the executor's, as it is */
	NETWORK_PLAN_KIND_COUNT
};
const char *network_plan_kind_text(enum network_plan_kind k);
int network_plan_kind_from_text(struct text t);

struct network_plan_request {
	struct text network; /* the executor's: none, bridge, or a name */
	const struct egress_filter *filter;
	bool rootless;      /* the engine */
	bool nft;           /* usable */
	bool grant;         /* the file names one */
	struct text egress; /* capabilities.egress as written; empty: absent */
};

struct network_plan {
	enum network_plan_kind kind;
	/* Of _RUN and _INTERNAL, before a proxy of the run's own: what is compiled, and the result.
	 */
	struct egress_filter filter;
	struct egress_policy policy;
	struct address dns[EGRESS_FILTER_RESOLVERS_MAX]; /* likewise; never empty there */
	size_t n_dns;
	struct text network; /* of _CONFIGURED; borrowed from the request */
	bool table;          /* nft guards it */
	bool shared;         /* one for all runs of the executor: an operator attaches a broker */
	bool egress_without_network; /* warning: `public` without a grant */
};
void network_plan_done(struct network_plan *p);

/*
 * -1: the first of the table that refuses; where it is about what the executor can do, with the
 * detail `constraint` (network_egress, egress_scope). *ret is not written then; else it is the
 * caller's (network_plan_done).
 */
must_check int network_plan_make(
	const struct network_plan_request *r, struct network_plan *ret, struct error *err);
