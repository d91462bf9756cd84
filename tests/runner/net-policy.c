/* The kinds of area net about compiled filters (network.md §4-§9). */
#include "base/mem.h"
#include "net/egress-evaluate.h"
#include "net/network-plan.h"
#include "net/network-policy.h"
#include "net/nft-script.h"
#include "runner/case.h"
#include "runner/net-json.h"

static void compile_or_die(json_t *c, struct egress_policy *ret)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;

	net_json_filter(json_object_get(c, "filter"), &f);
	if (egress_policy_compile(&f, ret, &err) < 0)
		*ret = (struct egress_policy){.n_rules = 0};
}

static json_t *dns_json(const struct address *list, size_t n)
{
	json_t *array = json_array();
	char text[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < n; i++) {
		address_text(&list[i], text);
		json_array_append_new(array, json_string(text));
	}
	return array;
}

static json_t *policy_json(const struct egress_policy *p)
{
	json_t *warnings = json_array();

	for (size_t i = 0; i < p->n_warnings; i++)
		json_array_append_new(
			warnings, json_string(egress_warning_code_text(p->warnings[i].code)));
	return json_pack("{s:b, s:s, s:o, s:I, s:o}", "ok", 1, "mode", egress_mode_text(p->mode),
		"warnings", warnings, "rules", (json_int_t)p->n_rules, "dns",
		dns_json(p->dns, p->n_dns));
}

static void run_compile(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;
	AUTO(egress_policy) p = {.n_rules = 0};
	struct text op = json_get_text(c, "op");
	int result;

	net_json_filter(json_object_get(c, "filter"), &f);
	if (text_is(op, "validate"))
		result = egress_policy_validate(&f, &err);
	else if (text_is(op, "config"))
		result = egress_policy_load(&f, &p, &err);
	else if (text_is(op, "policy"))
		result = egress_policy_of(&f, &p, &err);
	else
		result = egress_policy_compile(&f, &p, &err);
	if (result < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_subset(r, c, policy_json(&p));
}

static void run_evaluate(json_t *c, struct case_result *r)
{
	AUTO(egress_policy) p;
	struct egress_probe probe;
	unsigned flags = (json_get_bool(c, "wire", false) ? EGRESS_WIRE : 0U) |
			 (json_get_bool(c, "to_host", false) ? EGRESS_TO_HOST : 0U);
	const struct egress_rule *rule = NULL;
	const char *wanted = json_get_string(c, "reason_contains");

	compile_or_die(c, &p);
	if (egress_evaluate_read(json_get_text(c, "probe"), &probe))
		rule = egress_evaluate(&p, &probe, flags);
	const char *reason = egress_evaluate_reason(rule);
	case_exact(r, c, json_string(rule && rule->allow ? "allow" : "drop"));
	if (!wanted)
		return;
	r->ok &= text_has(text_of(reason), wanted);
	json_t *got = json_pack("{s:o, s:s}", "verdict", r->got, "reason", reason);
	r->got = got;
}

static void run_nft(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_policy) p;
	AUTO(str) out = STR_INIT(NFT_SCRIPT_MAX);
	bool bridge = text_is(json_get_text(c, "form"), "bridge");
	struct nft_script_names names = {bridge ? NFT_BRIDGE : NFT_NAMESPACE,
		json_get_text(c, "table"), json_get_text(c, "bridge"), json_get_text(c, "comment")};

	compile_or_die(c, &p);
	if (nft_script_render(&p, &names, &out, &err) < 0)
		case_exact(r, c, net_json_error(&err));
	else
		case_exact(r, c, json_string(str_text(&out)));
}

static void run_networkpolicy(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_policy) p;
	struct network_policy_names names = {json_get_text(c, "policy_name"),
		json_get_text(c, "namespace"), json_object_get(c, "selector"),
		json_get_bool(c, "cluster_dns", false)};

	compile_or_die(c, &p);
	json_t *object = network_policy_render(&p, &names, &err);
	case_exact(r, c, object ? object : net_json_error(&err));
}

/* ---- scope ---- */

static int plan_of(json_t *c, struct egress_filter *f, struct network_plan *ret, struct error *err)
{
	json_t *executor = json_object_get(c, "executor"), *spec = json_object_get(c, "spec");
	struct network_plan_request q = {.network = json_get_text(executor, "network"),
		.filter = f,
		.rootless = json_get_bool(executor, "rootless", false),
		.nft = json_get_bool(executor, "nft", true),
		.grant = json_get_text(spec, "network").len > 0,
		.egress = json_get_text(spec, "egress")};

	net_json_filter(json_object_get(executor, "filter"), f);
	if (!q.network.p)
		q.network = TEXT("none");
	if (!q.egress.p)
		q.egress = TEXT("");
	return network_plan_make(&q, ret, err);
}

static json_t *plan_json(const struct network_plan *p)
{
	json_t *warnings = json_array();
	json_t *got = json_pack("{s:s, s:b, s:b, s:o}", "plan", network_plan_kind_text(p->kind),
		"table", p->table, "shared", p->shared, "dns", dns_json(p->dns, p->n_dns));

	if (p->n_dns > 0)
		json_object_set_new(got, "mode", json_string(egress_mode_text(p->policy.mode)));
	if (p->network.p)
		json_object_set_new(got, "network", json_stringn(p->network.p, p->network.len));
	if (p->egress_without_network)
		json_array_append_new(warnings, json_string("egress_without_network"));
	json_object_set_new(got, "warnings", warnings);
	return got;
}

static void run_scope(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;
	AUTO(network_plan) p = {.kind = NETWORK_PLAN_NONE};

	if (plan_of(c, &f, &p, &err) == 0) {
		case_subset(r, c, plan_json(&p));
		return;
	}
	json_t *got = json_pack("{s:s, s:i}", "error", error_code_text(err.code), "status",
		error_code_http(err.code));
	json_object_set(got, "constraint", json_object_get(err.details, "constraint"));
	case_subset(r, c, got);
}

static void run_scope_probe(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_filter) f;
	AUTO(network_plan) p = {.kind = NETWORK_PLAN_NONE};
	struct egress_probe probe;

	if (plan_of(c, &f, &p, &err) < 0 ||
		!egress_evaluate_read(json_get_text(c, "probe"), &probe)) {
		case_exact(r, c, net_json_error(&err));
		return;
	}
	const struct egress_rule *rule = egress_evaluate(&p.policy, &probe, EGRESS_WIRE);
	case_exact(r, c, json_string(rule && rule->allow ? "allow" : "drop"));
}

static const char *const compile_fields[] = {"op", "filter", NULL};
static const char *const evaluate_fields[] = {
	"filter", "probe", "wire", "to_host", "reason_contains", NULL};
static const char *const nft_fields[] = {"filter", "form", "table", "bridge", "comment", NULL};
static const char *const networkpolicy_fields[] = {
	"filter", "policy_name", "namespace", "selector", "cluster_dns", NULL};
static const char *const scope_fields[] = {"executor", "spec", "probe", NULL};

const struct case_kind case_net_policy_kinds[] = {
	{"compile", compile_fields, run_compile},
	{"evaluate", evaluate_fields, run_evaluate},
	{"nft", nft_fields, run_nft},
	{"networkpolicy", networkpolicy_fields, run_networkpolicy},
	{"scope", scope_fields, run_scope},
	{"scope_probe", scope_fields, run_scope_probe},
	{NULL, NULL, NULL},
};
