#include "executor/container/driver/run-network.h"

#include "executor/container/driver/driver.h"
#include "executor/container/network/nft-call.h"

void run_network_done(struct run_network *n)
{
	plan_network_done(&n->plan);
	*n = RUN_NETWORK_INIT;
}

static bool is_public(const struct container_request *r)
{
	return text_is_nocase(text_trim(r->egress_scope), "public");
}

/* A run that no file takes the network from has what the operator gives every run. */
static bool has_network(const struct container_driver *d, const struct container_request *r)
{
	return !r->disable_network && !text_is(text_of(d->options.network), "none");
}

static bool extra_dns(const struct container_options *o)
{
	strv_foreach (arg, &o->extra_args)
		if (text_starts(text_of(*arg), "--dns"))
			return true;
	return false;
}

static void take_plan(struct network_plan *p, struct run_network *ret)
{
	ret->plan.kind = p->kind;
	ret->plan.table = p->table;
	ret->plan.shared = p->shared;
	ret->plan.mode = p->policy.mode;
	if (!plan_network_made(&ret->plan))
		return;
	egress_filter_copy(&p->filter, &ret->plan.filter);
	ret->n_dns = p->n_dns;
	for (size_t i = 0; i < p->n_dns; i++) {
		address_text(&p->dns[i], ret->addresses[i]);
		ret->dns[i] = text_of(ret->addresses[i]);
	}
}

int run_network_decide(const struct container_driver *d, const struct container_request *r,
	struct run_network *ret, struct error *err)
{
	auto_error struct error unusable = ERROR_INIT;
	AUTO(network_plan) p = {.kind = NETWORK_PLAN_NONE};
	const struct egress_filter *filter = container_driver_filter(d);
	struct network_plan_request q = {
		.network = text_of(d->options.network),
		.filter = filter,
		.rootless = d->runtime.rootless,
		.grant = has_network(d, r),
		.egress = r->egress_scope,
	};

	if (q.grant && !q.rootless && (filter->enabled || is_public(r)))
		q.nft = nft_call_usable(&unusable) == 0;
	if (network_plan_make(&q, &p, err) < 0)
		return -1;
	take_plan(&p, ret);
	ret->plan.filter_idle = p.kind == NETWORK_PLAN_CONFIGURED && egress_filter_idle(filter);
	ret->plan.extra_dns_ignored = plan_network_made(&ret->plan) && extra_dns(&d->options);
	return 0;
}

void run_network_fill(struct run_network *n, const char *executor_id, const char *handle,
	struct container_request *request)
{
	struct plan_network *p = &n->plan;

	if (!plan_network_made(p))
		return;
	network_name(text_of(executor_id), text_of(p->shared ? NULL : handle), p->name);
	network_name_table(p->name, p->table_name);
	p->seed = network_name_seed(p->name);
	request->network = text_of(p->name);
	request->dns = n->dns;
	request->n_dns = n->n_dns;
	request->ipv6 = p->filter.ipv6;
}
