#include "net/egress-filter.h"

#include <stdlib.h>

#include "base/mem.h"

void egress_filter_init(struct egress_filter *f)
{
	*f = (struct egress_filter){
		.allow_cidrs = STRV_INIT(EGRESS_FILTER_LIST_MAX),
		.deny_cidrs = STRV_INIT(EGRESS_FILTER_LIST_MAX),
		.allow_ports = STRV_INIT(EGRESS_FILTER_LIST_MAX),
		.resolvers = STRV_INIT(EGRESS_FILTER_LIST_MAX),
		.host_patterns = STRV_INIT(EGRESS_FILTER_LIST_MAX),
		.proxies = STRV_INIT(EGRESS_FILTER_LIST_MAX),
	};
}

void egress_filter_done(struct egress_filter *f)
{
	free(f->broker);
	free(f->subnet_pool);
	free(f->subnet_pool6);
	strv_done(&f->allow_cidrs);
	strv_done(&f->deny_cidrs);
	strv_done(&f->allow_ports);
	strv_done(&f->resolvers);
	strv_done(&f->host_patterns);
	strv_done(&f->proxies);
}

static void copy_list(const struct strv *from, struct strv *to)
{
	if (strv_add_all(to, from) < 0)
		abort();
}

void egress_filter_copy(const struct egress_filter *from, struct egress_filter *ret)
{
	egress_filter_init(ret);
	ret->enabled = from->enabled;
	ret->internal = from->internal;
	ret->allow_public_internet = from->allow_public_internet;
	ret->ipv6 = from->ipv6;
	ret->allow_all_ports = from->allow_all_ports;
	mem_set_string(&ret->broker, from->broker);
	mem_set_string(&ret->subnet_pool, from->subnet_pool);
	mem_set_string(&ret->subnet_pool6, from->subnet_pool6);
	copy_list(&from->allow_cidrs, &ret->allow_cidrs);
	copy_list(&from->deny_cidrs, &ret->deny_cidrs);
	copy_list(&from->allow_ports, &ret->allow_ports);
	copy_list(&from->resolvers, &ret->resolvers);
	copy_list(&from->host_patterns, &ret->host_patterns);
	copy_list(&from->proxies, &ret->proxies);
}

bool egress_filter_has_broker(const struct egress_filter *f)
{
	return f->broker && f->broker[0];
}

bool egress_filter_direct(const struct egress_filter *f)
{
	return f->enabled && (f->allow_cidrs.n > 0 || f->allow_public_internet ||
				     egress_filter_has_broker(f) || f->resolvers.n > 0);
}

/* The other keys also count for `egress: public` (network.md §9), whatever `enabled` says. */
bool egress_filter_idle(const struct egress_filter *f)
{
	return !f->enabled && (f->internal || f->allow_public_internet || f->allow_cidrs.n > 0 ||
				      f->allow_ports.n > 0);
}
