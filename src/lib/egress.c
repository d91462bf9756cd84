#include "lib/egress.h"

#include <string.h>

#include "base/mem.h"
#include "lib/error.h"
#include "lib/strings.h"
#include "net/egress-policy.h"
#include "net/nft-script.h"

struct cloop_egress_policy {
	struct egress_policy inner;
};

void cloop_egress_filter_init(struct cloop_egress_filter *filter)
{
	memset(filter, 0, sizeof(*filter));
}

static int copy_lists(const struct cloop_egress_filter *in, struct egress_filter *ret)
{
	return lib_strings_take(in->allow_cidrs, &ret->allow_cidrs) < 0 ||
			       lib_strings_take(in->deny_cidrs, &ret->deny_cidrs) < 0 ||
			       lib_strings_take(in->allow_ports, &ret->allow_ports) < 0 ||
			       lib_strings_take(in->resolvers, &ret->resolvers) < 0 ||
			       lib_strings_take(in->host_patterns, &ret->host_patterns) < 0
		       ? -1
		       : 0;
}

int lib_egress_read(
	const struct cloop_egress_filter *in, struct egress_filter *ret, struct error *err)
{
	egress_filter_init(ret);
	ret->enabled = in->enabled;
	ret->internal = in->internal;
	ret->allow_public_internet = in->allow_public_internet;
	ret->allow_all_ports = in->allow_all_ports;
	ret->ipv6 = in->ipv6;
	mem_set_string(&ret->broker, in->broker);
	mem_set_string(&ret->subnet_pool, in->subnet_pool);
	mem_set_string(&ret->subnet_pool6, in->subnet_pool6);
	if (copy_lists(in, ret) < 0)
		return error_set(err, ERROR_EGRESS_TOO_MANY, "egress_filter: too many entries");
	return 0;
}

typedef int compile_fn(const struct egress_filter *f, struct egress_policy *ret, struct error *err);

static int compile(const struct cloop_egress_filter *filter, compile_fn *how,
	struct cloop_egress_policy **ret, struct error *err)
{
	AUTO(egress_filter) f;
	struct egress_policy policy;

	if (lib_egress_read(filter, &f, err) < 0 || how(&f, &policy, err) < 0)
		return -1;
	*ret = mem_alloc(sizeof(**ret));
	(*ret)->inner = policy;
	return 0;
}

int cloop_egress_filter_compile(const struct cloop_egress_filter *filter,
	struct cloop_egress_policy **policy, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	return compile(filter, egress_policy_compile, policy, e);
}

int cloop_egress_filter_policy(const struct cloop_egress_filter *filter,
	struct cloop_egress_policy **policy, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	return compile(filter, egress_policy_of, policy, e);
}

int cloop_egress_filter_validate(const struct cloop_egress_filter *filter, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(egress_filter) f;

	return lib_egress_read(filter, &f, e) < 0 ? -1 : egress_policy_validate(&f, e);
}

void cloop_egress_policy_free(struct cloop_egress_policy *policy)
{
	if (!policy)
		return;
	egress_policy_done(&policy->inner);
	free(policy);
}

const char *cloop_egress_policy_mode(const struct cloop_egress_policy *policy)
{
	return egress_mode_text(policy->inner.mode);
}

char **cloop_egress_policy_warnings(const struct cloop_egress_policy *policy)
{
	const struct egress_policy *p = &policy->inner;
	char **ret = mem_grow(NULL, p->n_warnings + 1, sizeof(*ret));

	for (size_t i = 0; i < p->n_warnings; i++)
		ret[i] = mem_strdup(p->warnings[i].sentence);
	ret[p->n_warnings] = NULL;
	return ret;
}

int cloop_egress_policy_nft(const struct cloop_egress_policy *policy, const char *table,
	const char *bridge, char **text, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(str) out = STR_INIT(NFT_SCRIPT_MAX);
	struct nft_script_names names = {.form = NFT_BRIDGE,
		.table = text_of(lib_text(table)),
		.bridge = text_of(lib_text(bridge)),
		.comment = TEXT("cloop")};

	if (nft_script_render(&policy->inner, &names, &out, e) < 0)
		return -1;
	*text = str_take(&out);
	return 0;
}
