/* cloop egress firewall (network.md §10): touches neither nft nor an engine. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "config/config.h"
#include "executor/rundir/home.h"
#include "net/egress-evaluate.h"
#include "net/network-policy.h"
#include "net/nft-script.h"
#include "run/egress-grants.h"
#include "store/store.h"

#define TABLE_PREVIEW "cloop_sbx_preview"
#define COMMENT_PREVIEW "cloop preview"

/* ---- The filter ---- */

static int add_item(struct strv *list, const char *option, struct text item, struct error *err)
{
	if (strv_add_n(list, item.p, item.len) == 0)
		return 0;
	return error_set(err, ERROR_EGRESS_TOO_MANY, "%s: too many entries", option);
}

/* `a,b`, once or several times. */
static int read_list(const struct cli *c, const char *option, struct strv *ret, struct error *err)
{
	size_t at = 0;

	for (const char *value; (value = cli_option_next(c, option, &at));) {
		struct text rest = text_of(value), part;
		while (text_split(&rest, ',', &part))
			if (add_item(ret, option, text_trim_line(part), err) < 0)
				return -1;
	}
	return 0;
}

static int read_repeated(
	const struct cli *c, const char *option, struct strv *ret, struct error *err)
{
	size_t at = 0;

	for (const char *value; (value = cli_option_next(c, option, &at));)
		if (add_item(ret, option, text_of(value), err) < 0)
			return -1;
	return 0;
}

static int read_ports(const struct cli *c, struct egress_filter *f, struct error *err)
{
	const char *ports = cli_option(c, "--ports");

	f->allow_all_ports = ports && strcmp(ports, "all") == 0;
	return f->allow_all_ports ? 0 : read_list(c, "--ports", &f->allow_ports, err);
}

static int read_flags(const struct cli *c, struct egress_filter *f, struct error *err)
{
	f->enabled = true;
	f->allow_public_internet = cli_flag(c, "--internet");
	f->internal = cli_flag(c, "--internal");
	mem_set_string(&f->broker, cli_option(c, "--broker"));
	if (read_list(c, "--cidrs", &f->allow_cidrs, err) < 0 ||
		read_list(c, "--deny-cidrs", &f->deny_cidrs, err) < 0 ||
		read_ports(c, f, err) < 0 ||
		read_repeated(c, "--resolver", &f->resolvers, err) < 0 ||
		read_repeated(c, "--host", &f->host_patterns, err) < 0)
		return -1;
	return 0;
}

static bool any_flag(const struct cli *c)
{
	static const char *const names[] = {"--internet", "--internal", "--cidrs", "--deny-cidrs",
		"--ports", "--resolver", "--host", "--broker"};

	for (size_t i = 0; i < c->n_values; i++)
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			if (strcmp(c->values[i].option->name, names[j]) == 0)
				return true;
	return false;
}

/* ---- --grant ---- */

struct stored {
	struct egress_grant grant;
	struct error *err;
	int read; /* of egress_grants_recall() */
};

static void read_grant(void *data, const struct store_egress_grant *g)
{
	struct stored *s = data;

	s->read = egress_grants_recall(g, &s->grant, s->err);
}

static void add_grant(const struct egress_grant *g, struct egress_filter *f)
{
	char range[CIDR_TEXT_SIZE];

	f->enabled = true;
	f->allow_public_internet = g->hosts.n > 0;
	(void)!strv_add_all(&f->host_patterns, &g->hosts);
	for (size_t i = 0; i < g->n_cidrs; i++) {
		cidr_text(&g->cidrs[i], range);
		(void)!strv_add(&f->allow_cidrs, range);
	}
	for (size_t i = 0; i < g->n_ports; i++)
		(void)!strv_addf(&f->allow_ports, "%u", (unsigned)g->ports[i]);
}

/* What a stored grant comes to at the IP layer: its hosts are every public address. */
static int read_stored(struct cli *c, const char *id, struct egress_policy *ret, struct error *err)
{
	AUTO(egress_filter) f;
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	struct stored s = {.err = err};

	egress_filter_init(&f);
	if (cli_home_open(c, &home, err) < 0)
		return -1;
	int r = store_open_existing(home.path, &store, err);
	if (r == 0)
		r = store_egress_grant_show(store, id, read_grant, &s, err);
	if (r > 0)
		error_set(err, ERROR_EGRESS_GRANT_NOT_FOUND, "there is no grant %s",
			quoted_string(id));
	if (r == 0 && s.read == 0)
		add_grant(&s.grant, &f);
	bool usable = r == 0 && s.read == 0;
	egress_grant_done(&s.grant);
	return usable ? egress_policy_of(&f, ret, err) : -1;
}

/* What the flags say, else the operator's file; *ret_source names it. */
static int read_policy(
	struct cli *c, struct egress_policy *ret, const char **ret_source, struct error *err)
{
	AUTO(egress_filter) f;
	AUTO(config) config = {0};

	egress_filter_init(&f);
	*ret_source = "the command line";
	if (cli_option(c, "--grant") && any_flag(c))
		return cli_usage(
			c, err, "--grant is a whole filter: give no other flag of one with it");
	if (cli_option(c, "--grant")) {
		*ret_source = cli_option(c, "--grant");
		return read_stored(c, cli_option(c, "--grant"), ret, err);
	}
	if (any_flag(c))
		return read_flags(c, &f, err) < 0 ? -1 : egress_policy_written(&f, ret, err);
	*ret_source = cli_config(c, err);
	if (!*ret_source || config_load(*ret_source, &config, err) < 0)
		return -1;
	if (egress_policy_of(&config.filter, ret, err) == 0)
		return 0;
	return error_set_remedy(err,
		"set executors.container.egress_filter in %s, or give a filter with flags: cloop "
		"egress firewall --help",
		*ret_source);
}

/* ---- --check ---- */

struct answer {
	struct egress_probe probe;
	const struct egress_rule *rule;
	bool allowed;
};

static int judge(const struct cli *c, const struct egress_policy *p, const char *probe,
	struct answer *ret, struct error *err)
{
	if (!egress_evaluate_read(text_of(probe), &ret->probe))
		return cli_usage(c, err,
			"--check %s is not ADDRESS:PORT with /tcp or /udp, IPv6 in brackets, or "
			"ADDRESS/icmp",
			quoted_string(probe));
	ret->rule = egress_evaluate(p, &ret->probe, EGRESS_WIRE);
	ret->allowed = ret->rule && ret->rule->allow;
	return 0;
}

static json_t *answer_json(const struct answer *a)
{
	char address[INET6_ADDRSTRLEN];
	bool port = a->probe.protocol != EGRESS_OTHER;

	address_text(&a->probe.address, address);
	return json_pack("{s:s, s:s, s:s, s:o, s:s}", "verdict", a->allowed ? "allow" : "drop",
		"reason", egress_evaluate_reason(a->rule), "address", address, "port",
		port ? json_integer(a->probe.port) : json_null(), "protocol",
		egress_protocol_text(a->probe.protocol));
}

static void print_answer(const struct answer *a)
{
	char address[INET6_ADDRSTRLEN], probe[EGRESS_PROBE_SIZE];

	address_text(&a->probe.address, address);
	egress_evaluate_text(&a->probe, probe);
	printf("%s  %s  %s — %s\n", a->allowed ? "ALLOW" : "DROP", address, probe,
		egress_evaluate_reason(a->rule));
}

/* One answer is an object of its own; several are a list in one, with what they come to. */
static json_t *answers_json(json_t *list, bool all)
{
	if (json_array_size(list) != 1)
		return json_pack("{s:s, s:o}", "verdict", all ? "allow" : "drop", "checks", list);
	json_t *only = json_incref(json_array_get(list, 0));
	json_decref(list);
	return only;
}

static int check(const struct cli *c, const struct egress_policy *p, struct error *err)
{
	auto_json *list = json_array();
	bool all = true;
	size_t at = 0;
	struct answer a;

	for (const char *probe; (probe = cli_option_next(c, "--check", &at));) {
		if (judge(c, p, probe, &a, err) < 0)
			return -1;
		all &= a.allowed;
		if (c->json)
			json_array_append_new(list, answer_json(&a));
		else
			print_answer(&a);
	}
	if (c->json)
		cli_print_json(answers_json(TAKE_PTR(list), all));
	return all ? CLI_OK : CLI_REFUSED;
}

/* ---- --format ---- */

static void write_ports(const struct egress_policy *p, const struct egress_rule *r, struct str *out)
{
	const uint16_t *ports;
	size_t n = egress_policy_ports(p, r, &ports);

	for (size_t i = 0; i < n; i++)
		str_addf(out, "%s%u", i > 0 ? "," : "", (unsigned)ports[i]);
	if (n == 0)
		str_add_text(out, "any");
}

static void print_rules(const struct egress_policy *p, const char *source)
{
	auto_free char *shown = cli_plain(source);
	char prefix[CIDR_TEXT_SIZE];

	printf("egress filter: mode %s, %zu rules, from %s\n", egress_mode_text(p->mode),
		p->n_rules, shown);
	for (size_t i = 0; i < p->n_warnings; i++)
		printf("warning: %s: %s\n", egress_warning_code_text(p->warnings[i].code),
			p->warnings[i].sentence);
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct egress_rule *r = &p->rules[i];
		AUTO(str) ports = STR_INIT(EGRESS_FILTER_PORTS_MAX * 8);
		write_ports(p, r, &ports);
		cidr_text(&r->to, prefix);
		printf("%-5s  %-22s  %-3s  %s  %s%s\n", r->allow ? "ALLOW" : "DROP", prefix,
			egress_protocol_text(r->protocol), str_text(&ports), r->reason,
			r->stage == EGRESS_LOOPBACK ? "  [namespace-local]" : "");
	}
	printf("%-5s  %-22s  %-3s  %s  %s\n", "DROP", "everything else", "any", "any",
		egress_evaluate_reason(NULL));
}

static json_t *rule_json(const struct egress_policy *p, const struct egress_rule *r)
{
	json_t *list = json_array();
	char prefix[CIDR_TEXT_SIZE];
	const uint16_t *ports;
	size_t n = egress_policy_ports(p, r, &ports);

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(ports[i]));
	cidr_text(&r->to, prefix);
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:b}", "verdict", r->allow ? "allow" : "drop",
		"prefix", prefix, "protocol", egress_protocol_text(r->protocol), "ports", list,
		"reason", r->reason, "local", r->stage == EGRESS_LOOPBACK);
}

static json_t *rules_json(const struct egress_policy *p, const char *source)
{
	json_t *warnings = json_array(), *rules = json_array();

	for (size_t i = 0; i < p->n_warnings; i++)
		json_array_append_new(
			warnings, json_pack("{s:s, s:s}", "code",
					  egress_warning_code_text(p->warnings[i].code), "message",
					  p->warnings[i].sentence));
	for (size_t i = 0; i < p->n_rules; i++)
		json_array_append_new(rules, rule_json(p, &p->rules[i]));
	return json_pack("{s:s, s:o, s:o, s:o}", "mode", egress_mode_text(p->mode), "source",
		json_from_string(source), "warnings", warnings, "rules", rules);
}

static const char *table_of(const struct cli *c)
{
	const char *table = cli_option(c, "--table");

	return table ? table : TABLE_PREVIEW;
}

static int print_nft(
	const struct cli *c, const struct egress_policy *p, enum nft_form form, struct error *err)
{
	AUTO(str) out = STR_INIT(NFT_SCRIPT_MAX);
	const char *bridge = cli_option(c, "--bridge");
	struct nft_script_names names = {
		form, text_of(table_of(c)), text_of(bridge), TEXT(COMMENT_PREVIEW)};

	if (form == NFT_BRIDGE && !bridge)
		return cli_usage(
			c, err, "--format nft-bridge needs the name of the bridge: --bridge NAME");
	if (nft_script_render(p, &names, &out, err) < 0)
		return -1;
	if (c->json)
		cli_print_json(json_pack("{s:s}", "script", str_text(&out)));
	else
		fputs(str_text(&out), stdout);
	return CLI_OK;
}

static int print_network_policy(
	const struct cli *c, const struct egress_policy *p, struct error *err)
{
	auto_json *selector = json_pack("{s:s}", "cloop.dev/handle-id", "<handle>");
	auto_free char *name = mem_strdup(table_of(c));

	if (nft_script_check_table(text_of(name), err) < 0)
		return -1;
	for (char *at = name; *at; at++)
		if (*at == '_')
			*at = '-';
	struct network_policy_names names = {text_of(name), TEXT("cloop"), selector, true};
	auto_json *object = network_policy_render(p, &names, err);
	if (!object)
		return -1;
	if (c->json) {
		cli_print_json(TAKE_PTR(object));
		return CLI_OK;
	}
	auto_free char *text = json_write_pretty(object);
	puts(text);
	return CLI_OK;
}

static int run(struct cli *c, struct error *err)
{
	AUTO(egress_policy) p = {.n_rules = 0};
	const char *format = cli_option(c, "--format"), *source;

	if (read_policy(c, &p, &source, err) < 0)
		return -1;
	if (cli_option(c, "--check"))
		return check(c, &p, err);
	if (format && strcmp(format, "nft") == 0)
		return print_nft(c, &p, NFT_NAMESPACE, err);
	if (format && strcmp(format, "nft-bridge") == 0)
		return print_nft(c, &p, NFT_BRIDGE, err);
	if (format && strcmp(format, "networkpolicy") == 0)
		return print_network_policy(c, &p, err);
	if (c->json)
		cli_print_json(rules_json(&p, source));
	else
		print_rules(&p, source);
	return CLI_OK;
}

static const struct option options[] = {
	{"--format", "FORMAT", "what to print: rules (default), nft, nft-bridge or networkpolicy",
		"rules nft nft-bridge networkpolicy", false},
	{"--check", "PROBE", "judge ADDRESS:PORT, with /tcp or /udp; or ADDRESS/icmp", NULL, true},
	{"--internet", NULL, "open every public address", NULL, false},
	{"--cidrs", "LIST", "open these ranges, separated by commas", NULL, true},
	{"--deny-cidrs", "LIST", "close these ranges, whatever else is open", NULL, true},
	{"--ports", "LIST", "ports of what is open, or all", NULL, false},
	{"--resolver", "ADDRESS", "open a name server", NULL, true},
	{"--host", "PATTERN", "a host that is meant; packets carry no names", NULL, true},
	{"--broker", "ADDRESS:PORT", "open a proxy of the operator's", NULL, false},
	{"--grant", "ID", "what an egress grant comes to in packets", NULL, false},
	{"--internal", NULL, "a network without a route off the host", NULL, false},
	{"--table", "NAME", "name of the nft table (default " TABLE_PREVIEW ")", NULL, false},
	{"--bridge", "NAME", "name of the bridge; for nft-bridge", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_egress_firewall = {
	.group = "egress",
	.name = "firewall",
	.summary = "what an egress filter would install, or decide",
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = options,
	.help = "Compiles a filter and prints its rules, of which the first that matches decides, "
		"or the text that nft or Kubernetes would get; with --check, what it answers to "
		"packets that leave a sandbox. Without flags that describe a filter it is "
		"executors.container.egress_filter of the configuration, which must be enabled; "
		"with "
		"--grant a grant's, whose host names stand for every public address. "
		"Neither nft nor an engine is touched.\n"
		"A range that contains a cloud metadata service which the list does not name is "
		"refused, but of a grant on record: there the service stays closed.\n"
		"With --check it exits with 0 when every packet is allowed, with 1 when one is "
		"not.",
	.exits = "0 done, and every packet of --check is allowed; 1 one is not, or the filter is "
		 "refused; 2 wrong usage",
	.run = run,
};
