/* The table of a run's network: compiled with the run's own proxy, applied in one transaction. */
#include <net/if.h>
#include <stdio.h>

#include "base/mem.h"
#include "executor/container/decisions/network-sweep.h"
#include "executor/container/network/nft-call.h"
#include "executor/container/supervise/guard.h"
#include "executor/container/supervise/network-shared.h"
#include "executor/container/supervise/supervisor.h"
#include "net/egress-evaluate.h"
#include "net/nft-script.h"
#include "sys/fault.h"
#include "sys/log.h"

static int compile(struct supervisor *s, struct egress_policy *ret, struct error *err)
{
	AUTO(egress_filter) f;
	char proxy[ENDPOINT_TEXT_SIZE];

	egress_filter_copy(&s->plan.network.filter, &f);
	if (s->plan.network.shared && network_shared_proxies(s, &f.proxies, err) < 0)
		return -1;
	if (s->network.has_proxy) {
		endpoint_text(&s->network.proxy, proxy);
		if (strv_add(&f.proxies, proxy) < 0)
			return error_set(err, ERROR_EGRESS_TOO_MANY, "too many proxies");
	}
	return egress_policy_compile(&f, ret, err);
}

/* A session that the filter keeps the sandbox from is none. */
static int check_proxy(struct supervisor *s, const struct egress_policy *p, struct error *err)
{
	struct egress_probe probe = {s->network.proxy.address, EGRESS_TCP, s->network.proxy.port};
	char at[ENDPOINT_TEXT_SIZE], range[CIDR_TEXT_SIZE];

	if (!s->network.has_proxy)
		return 0;
	const struct egress_rule *r = egress_evaluate(p, &probe, EGRESS_WIRE | EGRESS_TO_HOST);
	if (r && r->allow)
		return 0;
	endpoint_text(&s->network.proxy, at);
	if (r)
		cidr_text(&r->to, range);
	error_set(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE,
		"the egress filter closes the run's own proxy at %s: %s %s", at,
		r && r->stage == EGRESS_DENIED ? "deny_cidrs has" : "closed by",
		r ? range : "default deny");
	return error_set_remedy(err,
		"take that range out of executors.container.egress_filter.deny_cidrs, or "
		"choose another subnet_pool");
}

/*
 * Tables of dead networks that name this bridge: engines give its name to the next network. And
 * ours: a shared network's name follows from the executor's id alone, and another home can have one
 * of that name at another engine of this host.
 */
struct others {
	const struct supervisor *s;
	struct str *script; /* NULL: nothing is removed */
	bool taken;
};

static bool lives(struct text bridge)
{
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), "%.*s", (int)bridge.len, bridge.len > 0 ? bridge.p : "");
	return if_nametoindex(name) != 0;
}

static void look_at(void *data, const struct nft_listed *t)
{
	auto_error struct error err = ERROR_INIT;
	struct others *o = data;
	const char *bridge = o->s->network.made.bridge;
	bool same_bridge = bridge && text_is(t->bridge, bridge);

	if (text_is(t->name, o->s->plan.network.table_name))
		o->taken = network_sweep_another_home(t->comment, text_of(o->s->home.id)) ||
			   (!same_bridge && bridge && lives(t->bridge));
	else if (same_bridge && o->script && nft_script_remove(t->name, o->script, &err) < 0)
		log_warning("%s", err.message);
}

bool network_table_taken(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	struct others others = {.s = s};

	if (!s->plan.network.table || nft_call_tables(look_at, &others, &err) == 0)
		return others.taken;
	log_warning("%s", err.message);
	return true;
}

/* The rules, and what they are known by. */
static int render(
	struct supervisor *s, const struct egress_policy *p, struct str *script, struct error *err)
{
	const char *table = s->plan.network.table_name;
	auto_free char *comment = mem_printf("cloop %s %s", s->home.id, s->plan.network.name);
	struct nft_script_names names = {
		NFT_BRIDGE, text_of(table), text_of(s->network.made.bridge), text_of(comment)};

	if (nft_script_render(p, &names, script, err) < 0)
		return -1;
	sha256_hex((struct text){str_text(script), script->len}, s->network.script);
	return 0;
}

/* Of a shared network: another run applied the very same rules, and they are there. */
static bool is_there(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	char wanted[SHA256_HEX_SIZE];

	return s->plan.network.shared && network_shared_applied(s, s->network.script, wanted) &&
	       nft_call_fingerprint(s->plan.network.table_name, s->network.fingerprint, &err) ==
		       0 &&
	       strcmp(s->network.fingerprint, wanted) == 0;
}

/* Of a shared network: what every guard may find from now on. */
static int note(struct supervisor *s, struct error *err)
{
	return s->plan.network.shared
		       ? network_lock_write_note(s->home.sockets_fd, s->plan.network.table_name,
				 s->network.fingerprint, err)
		       : 0;
}

static int refuse_taken(const struct supervisor *s, struct error *err)
{
	error_set(err, ERROR_EGRESS_NETWORK_CONFLICT,
		"the table %s of network %s is in use for a network of that name at another engine "
		"or of another home",
		s->plan.network.table_name, s->plan.network.name);
	return error_set_remedy(err,
		"give this executor an id of its own (executors.container.id), or stop the "
		"sandboxes of the other one and let `cloop executor reap` remove what is left");
}

/* One transaction: these rules instead of whatever the table has; every guard hears of it. */
static int replace(struct supervisor *s, struct str *script, struct error *err)
{
	const char *table = s->plan.network.table_name;
	struct others others = {.s = s, .script = script};

	if (nft_call_tables(look_at, &others, err) < 0)
		return -1;
	if (others.taken)
		return refuse_taken(s, err);
	if (nft_call_apply(script, err) < 0)
		return -1;
	s->network.applied = true;
	if (fault_hit("network:applied"))
		return error_set(err, ERROR_SHIM_FAILED, "fault injected at network:applied");
	/* What came up to here was our own doing; from here on it is somebody else's. */
	guard_forget(s);
	if (nft_call_fingerprint(table, s->network.fingerprint, err) < 0)
		return -1;
	return note(s, err);
}

int network_table_apply(struct supervisor *s, struct error *err)
{
	AUTO(egress_policy) p = {.n_rules = 0};
	AUTO(str) script = STR_INIT(2 * NFT_SCRIPT_MAX);

	if (compile(s, &p, err) < 0 || check_proxy(s, &p, err) < 0)
		return -1;
	if (!s->plan.network.table)
		return 0;
	if (render(s, &p, &script, err) < 0 || guard_begin(s, err) < 0)
		return -1;
	if (!is_there(s) && replace(s, &script, err) < 0)
		return -1;
	s->network.applied = true;
	guard_arm(s);
	return 0;
}

void network_table_leave(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(egress_policy) p = {.n_rules = 0};
	AUTO(str) script = STR_INIT(2 * NFT_SCRIPT_MAX);

	s->network.has_proxy = false;
	if (!s->plan.network.table || !s->network.applied || !s->network.made.bridge)
		return;
	if (compile(s, &p, &err) < 0 || render(s, &p, &script, &err) < 0 ||
		(!is_there(s) && replace(s, &script, &err) < 0))
		log_warning("the table %s: %s", s->plan.network.table_name, err.message);
}

void network_table_remove(struct supervisor *s)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) script = STR_INIT(4096);

	if (!s->plan.network.table)
		return;
	if (nft_script_remove(text_of(s->plan.network.table_name), &script, &err) < 0 ||
		nft_call_apply(&script, &err) < 0)
		log_warning("the table %s is left: %s", s->plan.network.table_name, err.message);
	s->network.applied = false;
}
