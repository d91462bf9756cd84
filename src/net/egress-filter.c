#include "net/egress-filter.h"

/* Config and command line cap their own lists; this is only the end of all patience. */
enum { LIST_MAX = 4096 };

void egress_filter_init(struct egress_filter *f)
{
	*f = (struct egress_filter){
		.allow_cidrs = STRV_INIT(LIST_MAX),
		.deny_cidrs = STRV_INIT(LIST_MAX),
		.allow_ports = STRV_INIT(LIST_MAX),
		.resolvers = STRV_INIT(LIST_MAX),
		.host_patterns = STRV_INIT(LIST_MAX),
		.proxies = STRV_INIT(LIST_MAX),
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

bool egress_filter_has_broker(const struct egress_filter *f)
{
	return f->broker && f->broker[0];
}

bool egress_filter_direct(const struct egress_filter *f)
{
	return f->enabled && (f->allow_cidrs.n > 0 || f->allow_public_internet ||
				     egress_filter_has_broker(f) || f->resolvers.n > 0);
}
