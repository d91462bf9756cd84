/* cloop egress grant, list (network.md §11). */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/grant-options.h"
#include "cli/table.h"
#include "executor/rundir/home.h"
#include "config/config.h"
#include "run/egress-grants.h"
#include "run/egress-test.h"
#include "store/store.h"
#include "vault/clocks-now.h"
#include "vault/ttl.h"

/* ---- What is asked for ---- */

/* What is no number is left to the reading of the grant, which says where. */
static json_t *read_ports(const struct cli *c)
{
	json_t *ports = grant_options_list(c, "--ports");

	for (size_t i = 0; i < json_array_size(ports); i++) {
		uint64_t port;
		struct text t = text_trim_line(json_text(json_array_get(ports, i)));
		if (num_parse(t, UINT16_MAX, &port) == NUM_OK)
			json_array_set_new(ports, i, json_integer((json_int_t)port));
	}
	return ports;
}

static int read_bytes(
	const struct cli *c, const char *option, const char *key, json_t *fields, struct error *err)
{
	const char *value = cli_option(c, option);
	uint64_t bytes = 0;

	if (!value)
		return 0;
	if (egress_grant_bytes(text_of(value), &bytes, err) < 0) {
		error_prefix(err, "%s", option);
		return error_add_detail(err, "path", json_string(key));
	}
	json_object_set_new(fields, key, json_integer((json_int_t)bytes));
	return 0;
}

static int read_session_ttl(const struct cli *c, json_t *fields, struct error *err)
{
	const char *value = cli_option(c, "--session-ttl");
	auto_error struct error why = ERROR_INIT;
	int64_t seconds = 0;

	if (!value)
		return 0;
	if (ttl_parse(text_of(value), &seconds, &why) < 0 &&
		!error_is(&why, ERROR_TTL_OUT_OF_RANGE)) {
		error_move(err, &why);
		return error_prefix(err, "--session-ttl");
	}
	json_object_set_new(fields, "session_ttl_s", json_integer(seconds));
	return 0;
}

static int read_fields(const struct cli *c, const char *subject, json_t *fields, struct error *err)
{
	const struct {
		const char *key;
		json_t *value;
	} members[] = {
		{"subject", json_from_string(subject)},
		{"scope", cli_option(c, "--scope") ? json_from_string(cli_option(c, "--scope"))
						   : NULL},
		{"hosts", grant_options_list(c, "--hosts")},
		{"cidrs", grant_options_list(c, "--cidrs")},
		{"ports", read_ports(c)},
		{"methods", grant_options_list(c, "--methods")},
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (members[i].value)
			json_object_set_new(fields, members[i].key, members[i].value);
	if (read_bytes(c, "--max-up", "max_bytes_up", fields, err) < 0 ||
		read_bytes(c, "--max-down", "max_bytes_down", fields, err) < 0)
		return -1;
	return read_session_ttl(c, fields, err);
}

/* ---- grant ---- */

static void print_granted(const json_t *g)
{
	auto_free char *subject = cli_plain(json_get_string(g, "subject"));
	const json_t *notes = json_object_get(g, "notes");
	size_t i;
	json_t *note;

	printf("%s\n", json_get_string(g, "id"));
	printf("  to           %s\n", subject);
	printf("  policy       %s\n", json_get_string(g, "policy"));
	printf("  expires      %s (%s)\n", json_get_string(g, "expires_at"),
		json_get_string(g, "expires"));
	json_array_foreach(notes, i, note) printf("  note         %s\n", json_string_value(note));
	printf("capabilities.network: %s\n", json_get_string(g, "id"));
}

static int run_grant(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	auto_free char *actor = actor_name();
	auto_json *fields = json_object();
	auto_json *granted = NULL;
	struct two_clocks now = clocks_now();
	struct egress_grants_request request = {.fields = fields, .actor = actor};
	const char *subject = grant_options_subject(c, err);

	if (!subject || read_fields(c, subject, fields, err) < 0 ||
		grant_options_ttl(c, &request.ttl, err) < 0 ||
		cli_home_open_due(c, &home, err) < 0 || store_open(home.path, &store, err) < 0 ||
		egress_grants_make(store, &request, &now, &granted, err) < 0)
		return -1;
	if (c->json)
		cli_print_json(json_incref(granted));
	else
		print_granted(granted);
	grant_options_warn(json_get_string(granted, "subject"));
	return CLI_OK;
}

/* ---- list ---- */

static void print_row(struct table *t, const json_t *g)
{
	const char *revocation = json_get_string(g, "revocation");
	bool open = revocation && !text_is(text_of(revocation), "revoked");

	table_row(t, (const char *[]){json_get_string(g, "id"), json_get_string(g, "subject"),
			     open ? revocation : json_get_string(g, "status"),
			     json_get_string(g, "expires_at"), json_get_string(g, "policy")});
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	AUTO(subject) subject = {.text = NULL};
	auto_json *list = json_array();
	struct egress_grants_filter filter = {.all = cli_flag(c, "--all")};
	struct two_clocks now = clocks_now();
	bool named = cli_option(c, "--to") || cli_option(c, "--subject");
	const char *wanted = named ? grant_options_subject(c, err) : NULL;
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *g;

	if (named && !wanted)
		return -1;
	int r = grant_options_look(c, wanted, &subject, &store, err);
	filter.subject = text_of(subject.text);
	if (r < 0 || (r == 0 && egress_grants_list(store, &filter, &now, list, err) < 0))
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:O}", "grants", list));
		return CLI_OK;
	}
	table_titles(&t, (const char *[]){"ID", "SUBJECT", "STATUS", "EXPIRES", "POLICY", NULL});
	json_array_foreach(list, i, g) print_row(&t, g);
	table_print(&t);
	return CLI_OK;
}

static const struct option grant_options[] = {
	{"--to", "SUBJECT", "who gets it: any, project:/PATH, executor:ID, label:K=V", NULL, false},
	{"--subject", "SUBJECT", "the same as --to", NULL, false},
	{"--hosts", "A,B", "names: NAME, *.NAME (what is below it), *, or an address", NULL, true},
	{"--cidrs", "A,B", "address ranges; without one only public addresses are reached", NULL,
		true},
	{"--ports", "A,B", "ports (default 80,443)", NULL, true},
	{"--methods", "A,B", "methods (default *); https needs CONNECT", NULL, true},
	{"--max-up", "SIZE", "bytes that one run may send, as 64k or 1g (default: no limit)", NULL,
		false},
	{"--max-down", "SIZE", "bytes that one run may receive", NULL, false},
	{"--session-ttl", "DURATION", "life of a session without renewal (60s to 4h; default 15m)",
		NULL, false},
	{"--ttl", "DURATION", "how long it holds (default 24h; 60s to 365d)", NULL, false},
	{"--scope", "TEXT", "a label for people", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_egress_grant = {
	.group = "egress",
	.name = "grant",
	.summary = "let runs reach hosts through the proxy, for a time",
	.flags = VERB_JSON | VERB_HOME,
	.options = grant_options,
	.help = "Prints the grant's ID, which a project names in .cloop/sandbox.yaml under "
		"capabilities.network. A run that names one that it holds gets a session on "
		"cloop's proxy and the variables HTTP_PROXY and HTTPS_PROXY; it reaches these "
		"hosts and ranges on these ports and nothing else of the proxy. One grant decides: "
		"others of the same project are not added to it.\n"
		"A host name is reached only at public addresses, unless a range of the grant "
		"contains what it resolves to. Cloud metadata services are refused unless they are "
		"named exactly, one address each.\n"
		"Subjects are those of secret grant. A grant always ends: after --ttl, or when it "
		"is revoked.\n"
		"  cloop egress grant --to project:/srv/app --hosts registry.npmjs.org\n"
		"  cloop egress grant --to label:team=web --hosts '*.github.com' --ttl 7d",
	.run = run_grant,
};

static const struct option list_options[] = {
	{"--to", "SUBJECT", "only those to this subject", NULL, false},
	{"--subject", "SUBJECT", "the same as --to", NULL, false},
	{"--all", NULL, "those that expired or were revoked too", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_egress_list = {
	.group = "egress",
	.name = "list",
	.summary = "list who may reach what through the proxy",
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = list_options,
	.help = "Newest first. STATUS is active, revoked or expired; a grant whose revocation has "
		"not reached every run stays in the list as revoke_pending, unreachable or failed. "
		"The ID is what capabilities.network of a project's file names.",
	.run = run_list,
};

/* ---- test ---- */

/* The newest active grant to this subject. */
static int find_grant(const struct cli *c, struct store *store, char **ret, struct error *err)
{
	AUTO(subject) subject = {.text = NULL};
	auto_json *list = json_array();
	struct two_clocks now = clocks_now();
	struct egress_grants_filter filter = {.all = false};
	const char *wanted = cli_option(c, "--to");

	if (subject_parse(text_of(wanted), &subject, err) < 0)
		return -1;
	filter.subject = text_of(subject.text);
	if (egress_grants_list(store, &filter, &now, list, err) < 0)
		return -1;
	const char *id = json_get_string(json_array_get(list, 0), "id");
	if (!id)
		return error_set(err, ERROR_EGRESS_GRANT_NOT_FOUND, "there is no grant to %s",
			quoted_string(subject.text));
	*ret = mem_strdup(id);
	return 0;
}

static void print_tested(const json_t *j)
{
	auto_free char *verdict = cli_plain(json_get_string(j, "verdict"));
	auto_free char *status = cli_plain(json_get_string(j, "status"));
	struct text rest = json_get_text(j, "reason"), line;

	printf("%s (%s), under %s\n", verdict, status, json_get_string(j, "grant"));
	while (rest.len > 0 && text_split(&rest, '\n', &line)) {
		AUTO(str) shown = STR_INIT(4 * line.len + 1);
		text_escape(&shown, line, line.len);
		puts(str_text(&shown));
	}
}

static int run_test(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO(config) config = {0};
	AUTO_PTR(store) store = NULL;
	auto_free char *grant =
		mem_strdup(cli_option(c, "--grant") ? cli_option(c, "--grant") : "");
	auto_json *answer = NULL;
	struct text url = text_of(cli_arg(c, 0));
	struct egress_test t = {.settings = &config.egress, .url = url.p};
	uint64_t timeout;
	const char *path = cli_config(c, err);

	if (!text_starts_nocase(url, "http://") && !text_starts_nocase(url, "https://"))
		return cli_usage(c, err, "give a URL that begins with http:// or https://");
	if (!grant[0] == !cli_option(c, "--to"))
		return cli_usage(
			c, err, "name the grant with --grant ID, or its subject with --to");
	if (!path || cli_option_duration_ms(c, "--timeout", 30000, &timeout, err) < 0 ||
		config_load(path, &config, err) < 0 || cli_home_open_due(c, &home, err) < 0 ||
		store_open(home.path, &store, err) < 0)
		return -1;
	if (cli_option(c, "--to")) {
		mem_set_string(&grant, NULL);
		if (find_grant(c, store, &grant, err) < 0)
			return -1;
	}
	t.store = store;
	t.grant = grant;
	t.timeout_ms = (int64_t)timeout;
	if (egress_test_run(&t, &answer, err) < 0)
		return -1;
	bool allowed = json_get_bool(answer, "allowed", false);
	if (c->json)
		cli_print_json(json_incref(answer));
	else
		print_tested(answer);
	return allowed ? CLI_OK : CLI_REFUSED;
}

static const struct option test_options[] = {
	{"--grant", "ID", "under this grant", NULL, false},
	{"--to", "SUBJECT", "under the newest grant to this subject", NULL, false},
	{"--timeout", "DURATION", "how long to wait for an answer (default 30s)", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_egress_test = {
	.group = "egress",
	.name = "test",
	.summary = "ask for a URL as a run under a grant would",
	.args = "URL",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.options = test_options,
	.help = "Opens a real session on a proxy on loopback, asks once, and says the verdict: of "
		"http the answer's head, of https whether a tunnel is opened. Exits with 1 on a "
		"refusal, with the words that the sandbox would see. The audit trail has that the "
		"session was opened and closed (tested).",
	.exits = "0 allowed; 1 refused or failed; 2 wrong usage",
	.run = run_test,
};
