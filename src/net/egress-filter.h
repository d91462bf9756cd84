/*
 * The operator's egress filter as it was written (network.md §4), before it is compiled
 * (net/egress-policy.h). Texts of any length and bytes; nothing here is judged.
 */
#pragma once

#include <stdbool.h>

#include "base/strv.h"

enum {
	EGRESS_FILTER_CIDRS_MAX = 256,
	EGRESS_FILTER_PORTS_MAX = 64,
	EGRESS_FILTER_RESOLVERS_MAX = 16,
	EGRESS_FILTER_HOSTS_MAX = 256,
	EGRESS_FILTER_LIST_MAX = 4096, /* the end of all patience, of any list */
};

struct egress_filter {
	bool enabled;
	bool internal;
	bool allow_public_internet;
	bool ipv6;
	char *broker;                     /* "" or NULL: none; owned */
	char *subnet_pool, *subnet_pool6; /* NULL: the default; owned */
	struct strv allow_cidrs, deny_cidrs, allow_ports, resolvers, host_patterns;
	/* From inside only: no list of ports; a run's own proxies. */
	bool allow_all_ports;
	struct strv proxies;
};

/* Empty; lists hold a few more entries than are allowed, so that too many can be seen. */
void egress_filter_init(struct egress_filter *f);
void egress_filter_done(struct egress_filter *f);
/* No list may be longer than EGRESS_FILTER_LIST_MAX. *ret is the caller's (egress_filter_done). */
void egress_filter_copy(const struct egress_filter *from, struct egress_filter *ret);
/* It is enabled and opens anything by itself: ports or a deny list alone are not a filter. */
bool egress_filter_direct(const struct egress_filter *f);
/* It is not enabled, and says what counts only when it is: somebody may believe that it holds. */
bool egress_filter_idle(const struct egress_filter *f);
bool egress_filter_has_broker(const struct egress_filter *f);
