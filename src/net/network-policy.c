#include "net/network-policy.h"

#include <assert.h>

#include "base/json.h"
#include "base/mem.h"

/* ---- Peers ---- */

/* A drop before rule `until` that covers the whole range. */
static bool dropped_before(const struct egress_policy *p, size_t until)
{
	for (size_t i = 0; i < until; i++)
		if (!p->rules[i].allow && cidr_contains(&p->rules[i].to, &p->rules[until].to))
			return true;
	return false;
}

/* The ranges of earlier drops inside that of rule `of`; nested ones are left out. */
static json_t *exceptions(const struct egress_policy *p, size_t of)
{
	auto_free struct cidr *inside = mem_alloc((of + 1) * sizeof(*inside));
	json_t *list = json_array();
	char text[CIDR_TEXT_SIZE];
	size_t n = 0, last = 0;

	for (size_t i = 0; i < of; i++)
		if (!p->rules[i].allow && cidr_contains(&p->rules[of].to, &p->rules[i].to))
			inside[n++] = p->rules[i].to;
	n = cidr_normalize(inside, n);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && cidr_contains(&inside[last], &inside[i]))
			continue;
		last = i;
		cidr_text(&inside[i], text);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

static json_t *peer_json(const struct egress_policy *p, size_t rule)
{
	char text[CIDR_TEXT_SIZE];
	auto_json *except = exceptions(p, rule);

	cidr_text(&p->rules[rule].to, text);
	json_t *block = json_pack("{s:s}", "cidr", text);
	if (json_array_size(except) > 0)
		json_object_set(block, "except", except);
	return json_pack("{s:o}", "ipBlock", block);
}

/* ---- Entries: rules with the same protocol and ports ---- */

static int compare_ports(const struct egress_policy *p, size_t a, size_t b)
{
	const uint16_t *x, *y;
	size_t n = egress_policy_ports(p, &p->rules[a], &x);
	size_t m = egress_policy_ports(p, &p->rules[b], &y);

	for (size_t i = 0; i < n && i < m; i++)
		if (x[i] != y[i])
			return (int)x[i] - (int)y[i];
	return n < m ? -1 : n > m;
}

/* By protocol ("TCP" before "UDP"), then by ports. */
static int compare_entries(const struct egress_policy *p, size_t a, size_t b)
{
	int order = (int)p->rules[a].protocol - (int)p->rules[b].protocol;

	return order != 0 ? order : compare_ports(p, a, b);
}
static_assert(EGRESS_TCP < EGRESS_UDP, "the order of their names");

static json_t *ports_json(const struct egress_policy *p, const struct egress_rule *r)
{
	const char *protocol = r->protocol == EGRESS_TCP ? "TCP" : "UDP";
	json_t *list = json_array();
	const uint16_t *ports;
	size_t n = egress_policy_ports(p, r, &ports);

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:i}", "protocol", protocol, "port", (int)ports[i]));
	if (n == 0)
		json_array_append_new(list, json_pack("{s:s}", "protocol", protocol));
	return list;
}

static bool has_peer(const json_t *peers, const json_t *peer)
{
	size_t i;
	json_t *other;

	json_array_foreach(peers, i, other) if (json_equal(other, peer)) return true;
	return false;
}

/* Rules that open something on the wire. */
static size_t opening(const struct egress_policy *p, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].allow && p->rules[i].stage != EGRESS_LOOPBACK &&
			!dropped_before(p, i))
			ret[n++] = i;
	return n;
}

/* A stable sort: peers stay in the order of the rules. */
static void sort_entries(const struct egress_policy *p, size_t *rules, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		size_t rule = rules[i], at = i;
		for (; at > 0 && compare_entries(p, rules[at - 1], rule) > 0; at--)
			rules[at] = rules[at - 1];
		rules[at] = rule;
	}
}

static void add_entries(const struct egress_policy *p, json_t *egress)
{
	auto_free size_t *rules = mem_alloc((p->n_rules + 1) * sizeof(*rules));
	size_t n = opening(p, rules);
	json_t *peers = NULL;

	sort_entries(p, rules, n);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_entries(p, rules[i - 1], rules[i]) != 0) {
			peers = json_array();
			json_array_append_new(
				egress, json_pack("{s:o, s:o}", "ports",
						ports_json(p, &p->rules[rules[i]]), "to", peers));
		}
		auto_json *peer = peer_json(p, rules[i]);
		if (!has_peer(peers, peer))
			json_array_append(peers, peer);
	}
}

/* ---- The object ---- */

static json_t *cluster_dns_json(void)
{
	return json_pack("{s:[{s:s, s:i}, {s:s, s:i}], s:[{s:{s:{s:s}}}]}", "ports", "protocol",
		"UDP", "port", 53, "protocol", "TCP", "port", 53, "to", "namespaceSelector",
		"matchLabels", "kubernetes.io/metadata.name", "kube-system");
}

json_t *network_policy_render(
	const struct egress_policy *p, const struct network_policy_names *names, struct error *err)
{
	if (names->name.len == 0 || json_object_size(names->selector) == 0) {
		error_set(err, ERROR_EGRESS_SELECTOR_MISSING, "the NetworkPolicy has no %s",
			names->name.len == 0 ? "name" : "label that selects its pods");
		return NULL;
	}
	json_t *egress = json_array();
	if (names->cluster_dns)
		json_array_append_new(egress, cluster_dns_json());
	add_entries(p, egress);
	return json_pack("{s:s, s:s, s:{s:s%, s:s%}, s:{s:{s:O}, s:[s, s], s:o}}", "apiVersion",
		"networking.k8s.io/v1", "kind", "NetworkPolicy", "metadata", "name", names->name.p,
		names->name.len, "namespace", names->name_space.p, names->name_space.len, "spec",
		"podSelector", "matchLabels", names->selector, "policyTypes", "Egress", "Ingress",
		"egress", egress);
}
