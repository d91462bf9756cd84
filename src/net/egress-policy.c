#include "net/egress-policy.h"

#include "base/enum-text.h"
#include "net/egress-rules.h"
#include "net/subnet-pool.h"

enum { DNS_PORT = 53 };

static const char *const modes[] = {
	[EGRESS_ISOLATED] = "isolated",
	[EGRESS_BROKERED] = "brokered",
	[EGRESS_FILTERED] = "filtered",
};
ENUM_TEXT(egress_mode, modes, EGRESS_MODE_COUNT)

static const char *const protocols[] = {
	[EGRESS_ANY] = "any",
	[EGRESS_TCP] = "tcp",
	[EGRESS_UDP] = "udp",
	[EGRESS_OTHER] = "icmp",
};
ENUM_TEXT(egress_protocol, protocols, EGRESS_PROTOCOL_COUNT)

static const char *const warnings[] = {
	[EGRESS_HOST_PATTERNS_NOT_ENFORCED] = "host_patterns_not_enforced",
	[EGRESS_PUBLIC_INTERNET] = "public_internet",
	[EGRESS_METADATA_CARVED] = "metadata_carved",
	[EGRESS_TRANSLATION_DROPPED] = "translation_dropped",
	[EGRESS_WARN_ISOLATED] = "isolated",
	[EGRESS_NO_RESOLVER] = "no_resolver",
	[EGRESS_LOOPBACK_NO_EFFECT] = "loopback_no_effect",
	[EGRESS_SHADOWED] = "shadowed",
};
ENUM_TEXT(egress_warning_code, warnings, EGRESS_WARNING_CODE_COUNT)

void egress_policy_done(struct egress_policy *p)
{
	for (size_t i = 0; i < p->n_warnings; i++)
		free(p->warnings[i].sentence);
	free(p->warnings);
	free(p->rules);
	*p = (struct egress_policy){.n_rules = 0};
}

static enum egress_mode mode_of(const struct egress_lists *l, bool public_internet)
{
	if (l->n_allow > 0 || public_internet)
		return EGRESS_FILTERED;
	return l->n_gates > 0 || l->n_resolvers > 0 ? EGRESS_BROKERED : EGRESS_ISOLATED;
}

static void build(
	const struct egress_filter *f, const struct egress_lists *l, struct egress_policy *p)
{
	*p = (struct egress_policy){.mode = mode_of(l, f->allow_public_internet)};
	memcpy(p->ports, l->ports, sizeof(p->ports));
	p->n_ports = l->n_ports;
	for (size_t i = 0; i < l->n_resolvers; i++)
		if (l->resolvers[i].port == DNS_PORT)
			p->dns[p->n_dns++] = l->resolvers[i].address;
	egress_rules_build(l, f->allow_public_internet, p);
	egress_warnings_build(l, f->allow_public_internet, p);
}

static int compile(
	const struct egress_filter *f, bool metadata, struct egress_policy *ret, struct error *err)
{
	AUTO(egress_lists) lists;

	if (egress_lists_read(f, metadata, &lists, err) < 0)
		return -1;
	build(f, &lists, ret);
	return 0;
}

int egress_policy_compile(
	const struct egress_filter *f, struct egress_policy *ret, struct error *err)
{
	return compile(f, false, ret, err);
}

int egress_policy_written(
	const struct egress_filter *f, struct egress_policy *ret, struct error *err)
{
	return compile(f, true, ret, err);
}

int egress_policy_of(const struct egress_filter *f, struct egress_policy *ret, struct error *err)
{
	if (f->enabled)
		return compile(f, false, ret, err);
	error_set(err, ERROR_EGRESS_FILTER_DISABLED, "the egress filter is not enabled");
	error_add_detail(err, "key", json_string("egress_filter.enabled"));
	return -1;
}

static int check_empty(const struct egress_filter *f, struct error *err)
{
	if (!f->enabled || f->internal || egress_filter_direct(f))
		return 0;
	error_set(err, ERROR_EGRESS_FILTER_EMPTY, "the egress filter is enabled and opens nothing");
	error_add_detail(err, "key", json_string("egress_filter"));
	return -1;
}

int egress_policy_validate(const struct egress_filter *f, struct error *err)
{
	AUTO(egress_policy) p = {.n_rules = 0};

	if (!f->enabled)
		return 0;
	return check_empty(f, err) < 0 ? -1 : compile(f, false, &p, err);
}

int egress_policy_load(const struct egress_filter *f, struct egress_policy *ret, struct error *err)
{
	AUTO(egress_policy) p = {.n_rules = 0};

	if (check_empty(f, err) < 0 || compile(f, true, &p, err) < 0 ||
		subnet_pool_check(f, err) < 0)
		return -1;
	*ret = p;
	p = (struct egress_policy){.n_rules = 0};
	return 0;
}

size_t egress_policy_ports(
	const struct egress_policy *p, const struct egress_rule *r, const uint16_t **ret)
{
	if (r->stage == EGRESS_GRANTED || r->stage == EGRESS_PUBLIC) {
		*ret = p->ports;
		return p->n_ports;
	}
	*ret = &r->port;
	return r->port ? 1 : 0;
}
