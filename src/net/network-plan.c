#include "net/network-plan.h"

#include "base/enum-text.h"

static const char *const kinds[] = {
	[NETWORK_PLAN_NONE] = "none",
	[NETWORK_PLAN_RUN] = "run",
	[NETWORK_PLAN_INTERNAL] = "internal",
	[NETWORK_PLAN_CONFIGURED] = "configured",
};
ENUM_TEXT(network_plan_kind, kinds, NETWORK_PLAN_KIND_COUNT)

void network_plan_done(struct network_plan *p)
{
	egress_filter_done(&p->filter);
	egress_policy_done(&p->policy);
}

static bool network_none(const struct network_plan_request *r)
{
	return r->network.len == 0 || text_is(r->network, "none");
}

static int unsupported(struct error *err, const char *constraint, const char *message)
{
	bool network = strcmp(constraint, "network_egress") == 0;

	error_set(err, ERROR_SANDBOX_UNSUPPORTED, "%s", message);
	error_set_remedy(err, "%s",
		network ? "remove capabilities.network, or let the operator set "
			  "executors.container.network, with egress_filter"
			: "remove capabilities.egress, or use a rootful engine with nft, as root");
	error_add_detail(err, "constraint", json_string(constraint));
	return -1;
}

/* A filtered network and what is answered there: without a resolver names end in the sandbox. */
static void set_dns(struct network_plan *p)
{
	static const struct address nobody = {AF_INET, {127, 0, 0, 1}};

	memcpy(p->dns, p->policy.dns, sizeof(p->dns));
	p->n_dns = p->policy.n_dns;
	if (p->n_dns == 0)
		p->dns[p->n_dns++] = nobody;
}

static int compile(const struct egress_filter *f, struct network_plan *p, struct error *err)
{
	if (egress_policy_compile(f, &p->policy, err) < 0)
		return error_prefix(err, "egress filter");
	egress_filter_copy(f, &p->filter);
	set_dns(p);
	return 0;
}

/* ---- 6-9: egress: public ---- */

static int check_public(const struct network_plan_request *r, struct error *err)
{
	const struct egress_filter *f = r->filter;

	if (r->rootless)
		return unsupported(err, "egress_scope",
			"capabilities.egress: a rootless engine cannot scope what a sandbox "
			"reaches");
	if (!r->nft)
		return unsupported(err, "egress_scope",
			"capabilities.egress: without a usable nft what a sandbox reaches cannot "
			"be scoped");
	if (f->enabled && (f->internal || !f->allow_public_internet)) {
		error_set(err, ERROR_EXECUTOR_UNSUPPORTED,
			"capabilities.egress: public would add access: the filter of this executor "
			"does not open the public Internet");
		return error_set_remedy(err, "remove capabilities.egress from the file");
	}
	if (f->resolvers.n == 0) {
		error_set(err, ERROR_EGRESS_NO_RESOLVERS,
			"capabilities.egress: public closes private addresses, and with them the "
			"usual resolver; no other is configured");
		return error_set_remedy(
			err, "set executors.container.egress_filter.resolvers in config.yaml");
	}
	return 0;
}

static int plan_public(
	const struct network_plan_request *r, struct network_plan *p, struct error *err)
{
	/* Borrows the lists of the filter that it keeps. */
	struct egress_filter scope = *r->filter;

	if (check_public(r, err) < 0)
		return -1;
	scope.internal = false;
	scope.allow_public_internet = true;
	scope.allow_all_ports = true;
	scope.allow_cidrs = STRV_INIT(0);
	scope.allow_ports = STRV_INIT(0);
	p->kind = NETWORK_PLAN_RUN;
	p->table = true;
	return compile(&scope, p, err);
}

/* ---- 10-14: the executor's own filter ---- */

static int plan_filtered(
	const struct network_plan_request *r, struct network_plan *p, struct error *err)
{
	if (r->rootless) {
		error_set(err, ERROR_EXECUTOR_UNSUPPORTED,
			"an egress filter on the host does not see the packets of a rootless "
			"engine");
		return error_set_remedy(err, "use a rootful engine, or network: none");
	}
	if (!r->filter->internal && !r->nft) {
		error_set(err, ERROR_EXECUTOR_UNSUPPORTED,
			"the egress filter of this executor needs nft, which is not usable");
		return error_set_remedy(err, "install nftables, and run cloop as root");
	}
	p->kind = r->filter->internal ? NETWORK_PLAN_INTERNAL : NETWORK_PLAN_RUN;
	p->table = r->nft;
	p->shared = r->filter->internal && egress_filter_has_broker(r->filter);
	return compile(r->filter, p, err);
}

/* ---- 2-4: what the file says ---- */

enum scope { SCOPE_ABSENT, SCOPE_PUBLIC, SCOPE_NONE };

static int read_scope(struct text egress, enum scope *ret, struct error *err)
{
	struct text word = text_trim(egress);

	if (word.len == 0)
		*ret = SCOPE_ABSENT;
	else if (text_is_nocase(word, "public"))
		*ret = SCOPE_PUBLIC;
	else if (text_is_nocase(word, "none"))
		*ret = SCOPE_NONE;
	else
		return error_set(err, ERROR_NOT_A_CHOICE,
			"capabilities.egress: %s is neither public nor none", quoted(egress));
	return 0;
}

static int plan(const struct network_plan_request *r, struct network_plan *p, struct error *err)
{
	enum scope scope = SCOPE_ABSENT;

	if (r->filter->enabled && network_none(r))
		return error_set(err, ERROR_EGRESS_FILTER_NETWORK_NONE,
			"the egress filter is enabled, but the executor has no network");
	if (read_scope(r->egress, &scope, err) < 0)
		return -1;
	if (scope == SCOPE_NONE && r->grant)
		return error_set(err, ERROR_CONTRADICTION,
			"capabilities.egress is none, and capabilities.network names a grant");
	if (!r->grant) {
		p->egress_without_network = scope == SCOPE_PUBLIC;
		return 0;
	}
	if (network_none(r))
		return unsupported(err, "network_egress",
			"capabilities.network: the workloads of this executor have no network");
	if (scope == SCOPE_PUBLIC)
		return plan_public(r, p, err);
	if (r->filter->enabled)
		return plan_filtered(r, p, err);
	p->kind = NETWORK_PLAN_CONFIGURED;
	p->network = r->network;
	return 0;
}

int network_plan_make(
	const struct network_plan_request *r, struct network_plan *ret, struct error *err)
{
	struct network_plan p = {.kind = NETWORK_PLAN_NONE};

	if (plan(r, &p, err) < 0)
		return -1;
	*ret = p;
	return 0;
}
