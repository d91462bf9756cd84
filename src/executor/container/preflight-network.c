#include "executor/container/preflight-network.h"

#include "net/egress-policy.h"

#define SCOPE "egress-scope"

static bool filtered(const struct preflight_facts *f)
{
	return f->filter && f->filter->enabled && !f->network_none;
}

static bool needs_nft(const struct preflight_facts *f)
{
	return !f->filter->internal;
}

bool preflight_network_ready(const struct preflight_facts *f)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_policy) p = {.n_rules = 0};

	return filtered(f) && !f->rootless && (f->nft || !needs_nft(f)) &&
	       egress_policy_of(f->filter, &p, &err) == 0;
}

static void add_scope(
	const struct preflight_facts *f, const struct egress_policy *p, struct preflight_report *r)
{
	bool shared = f->filter->internal && egress_filter_has_broker(f->filter);

	for (size_t i = 0; i < p->n_warnings; i++)
		preflight_report_add(r, SCOPE, PREFLIGHT_WARN,
			"cloop egress firewall shows what the filter comes to", "%s: %s",
			egress_warning_code_text(p->warnings[i].code), p->warnings[i].sentence);
	if (f->filter->internal && !f->nft)
		preflight_report_add(r, SCOPE, PREFLIGHT_WARN,
			"install nftables, and run cloop as root",
			"internal_host_open: without nft a sandbox reaches this host's own "
			"addresses at its gateway");
	if (shared)
		preflight_report_add(r, SCOPE, PREFLIGHT_WARN,
			"do without a broker: every run then has a network of its own",
			"neighbours_open: sandboxes share the broker's network; their ports are "
			"isolated from each other only once they have started");
	if (f->filter->ipv6 && f->engine == ENGINE_DOCKER)
		preflight_report_add(r, SCOPE, PREFLIGHT_WARN,
			"set ip6tables and experimental to true in daemon.json, or ipv6: false",
			"ipv6_untranslated: docker translates IPv6 only where its daemon is told "
			"to");
}

static void judge_filter(const struct preflight_facts *f, struct preflight_report *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_policy) p = {.n_rules = 0};

	if (egress_policy_of(f->filter, &p, &err) < 0) {
		preflight_report_add(
			r, "egress", PREFLIGHT_FAIL, error_remedy(&err), "%s", err.message);
	} else if (f->rootless) {
		preflight_report_add(r, "egress", PREFLIGHT_FAIL,
			"use a rootful engine, or network: none",
			"a filter on the host does not see the packets of a rootless engine");
	} else if (needs_nft(f) && !f->nft) {
		preflight_report_add(r, "egress", PREFLIGHT_FAIL,
			"install nftables, and run cloop as root",
			"the egress filter needs nft, which is not usable");
	} else {
		preflight_report_add(r, "egress", PREFLIGHT_OK, "", "%s%s, %zu rules",
			f->filter->internal ? "internal, " : "", egress_mode_text(p.mode),
			p.n_rules);
		add_scope(f, &p, r);
	}
}

static void judge_proxy(const struct preflight_facts *f, struct preflight_report *r)
{
	static const char name[] = "egress-proxy";

	if (!f->egress_enabled)
		preflight_report_add(r, name, PREFLIGHT_WARN, "set executors.egress.enabled: true",
			"the egress proxy is disabled: a run with a grant is refused");
	else if (!f->egress_program)
		preflight_report_add(r, name, PREFLIGHT_WARN, "install it beside cloop-shim",
			"cloop-egress is not found: a run with a grant is refused");
	else if (!f->network_none && f->egress_no_route)
		preflight_report_add(r, name, PREFLIGHT_WARN,
			"set executors.container.network to a bridge of this host", "%s",
			f->egress_no_route);
	else
		preflight_report_add(r, name, PREFLIGHT_OK, "", "runs with a grant get one");
}

void preflight_network_judge(const struct preflight_facts *f, struct preflight_report *r)
{
	if (!f->filter)
		return;
	if (f->network_none)
		preflight_report_add(r, "egress", PREFLIGHT_OK, "", "no network");
	else if (f->filter->enabled)
		judge_filter(f, r);
	else if (egress_filter_idle(f->filter))
		preflight_report_add(r, "egress", PREFLIGHT_WARN,
			f->rootless ? "set network: none: only a rootful engine can be filtered"
				    : "cloop config set "
				      "executors.container.egress_filter.enabled true",
			"a network without a filter, though one is written: egress_filter.enabled "
			"is false, and sandboxes reach every service of this host");
	else
		preflight_report_add(r, "egress", PREFLIGHT_WARN,
			f->rootless ? "set network: none: only a rootful engine can be filtered"
				    : "enable egress_filter, or set network: none",
			"a network without a filter: sandboxes reach every service of this host, "
			"too");
	judge_proxy(f, r);
	if (f->rootless && !f->network_none && !f->tun)
		preflight_report_add(r, "rootless-network", PREFLIGHT_FAIL,
			"chmod 0666 /dev/net/tun (a udev rule keeps it), or network: none",
			"/dev/net/tun cannot be opened: a rootless run with a network ends at "
			"once");
}
