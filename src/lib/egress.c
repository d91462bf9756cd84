#include "lib/egress.h"

#include <string.h>

#include "base/json.h"
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
	if (filter)
		memset(filter, 0, sizeof(*filter));
}

/* A view: nothing of it is ours. */
static struct strv list_of(const char *const *list)
{
	struct strv ret = {.v = (char **)(uintptr_t)list};

	while (list && list[ret.n] && ret.n <= EGRESS_FILTER_LIST_MAX)
		ret.n++;
	return ret;
}

static struct egress_filter view_of(const struct cloop_egress_filter *in)
{
	return (struct egress_filter){
		.enabled = in->enabled,
		.internal = in->internal,
		.allow_public_internet = in->allow_public_internet,
		.ipv6 = in->ipv6,
		.broker = (char *)(uintptr_t)lib_given(in->broker),
		.subnet_pool = (char *)(uintptr_t)lib_given(in->subnet_pool),
		.subnet_pool6 = (char *)(uintptr_t)lib_given(in->subnet_pool6),
		.allow_cidrs = list_of(in->allow_cidrs),
		.deny_cidrs = list_of(in->deny_cidrs),
		.allow_ports = list_of(in->allow_ports),
		.resolvers = list_of(in->resolvers),
		.host_patterns = list_of(in->host_patterns),
		.allow_all_ports = in->allow_all_ports,
	};
}

static bool fits(const struct egress_filter *f)
{
	const struct strv *const lists[] = {
		&f->allow_cidrs, &f->deny_cidrs, &f->allow_ports, &f->resolvers, &f->host_patterns};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i]->n > EGRESS_FILTER_LIST_MAX)
			return false;
	return true;
}

int lib_egress_read(
	const struct cloop_egress_filter *in, struct egress_filter *ret, struct error *err)
{
	const struct egress_filter view = view_of(in);

	egress_filter_init(ret);
	if (!fits(&view))
		return error_set(err, ERROR_EGRESS_TOO_MANY, "egress_filter: too many entries");
	egress_filter_copy(&view, ret);
	return 0;
}

int lib_egress_explain(const char *who, struct error *err)
{
	const char *key = json_get_string(err->details, "key");

	if (key)
		error_prefix(err, "%s", key);
	return who ? error_prefix(err, "%s", who) : -1;
}

typedef int compile_fn(const struct egress_filter *f, struct egress_policy *ret, struct error *err);

static int compile(const struct cloop_egress_filter *filter, compile_fn *how,
	struct cloop_egress_policy **policy, struct error *err)
{
	AUTO(egress_filter) f = {.broker = NULL};
	struct egress_policy compiled;

	if (LIB_MISSING(err, filter, policy) || lib_egress_read(filter, &f, err) < 0)
		return -1;
	if (how(&f, &compiled, err) < 0)
		return lib_egress_explain(how == egress_policy_of ? "container" : NULL, err);
	*policy = mem_alloc(sizeof(**policy));
	(*policy)->inner = compiled;
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
	AUTO(egress_filter) f = {.broker = NULL};

	if (LIB_MISSING(e, filter) || lib_egress_read(filter, &f, e) < 0)
		return -1;
	return egress_policy_validate(&f, e) < 0 ? lib_egress_explain("container", e) : 0;
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
	return policy ? egress_mode_text(policy->inner.mode) : "";
}

char **cloop_egress_policy_warnings(const struct cloop_egress_policy *policy)
{
	size_t n = policy ? policy->inner.n_warnings : 0;
	char **ret = mem_grow(NULL, n + 1, sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = mem_strdup(policy->inner.warnings[i].sentence);
	ret[n] = NULL;
	return ret;
}

int cloop_egress_policy_nft(const struct cloop_egress_policy *policy, const char *table,
	const char *bridge, char **text, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	AUTO(str) out = STR_INIT(NFT_SCRIPT_MAX);

	if (LIB_MISSING(e, policy, text))
		return -1;
	struct nft_script_names names = {.form = NFT_BRIDGE,
		.table = text_of(lib_text(table)),
		.bridge = text_of(lib_text(bridge)),
		.comment = TEXT("cloop")};
	if (nft_script_render(&policy->inner, &names, &out, e) < 0)
		return -1;
	*text = str_take(&out);
	return 0;
}
