/* cloop secret lease; cloop lease list, extend (disk-and-secrets.md §17, §19). */
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "executor/rundir/home.h"
#include "run/egress-events.h"
#include "run/lease-preview.h"
#include "run/leases.h"
#include "store/store.h"
#include "sys/log.h"

/* ---- secret lease ---- */

/* `a, b`, or "-". Of objects their `name`. */
static void print_names(const char *title, const json_t *list)
{
	size_t i;
	json_t *item;

	printf("%-12s", title);
	json_array_foreach(list, i, item)
	{
		const char *name = json_is_string(item) ? json_string_value(item)
							: json_get_string(item, "name");
		auto_free char *shown = cli_plain(name ? name : "?");
		printf("%s%s", i ? ", " : " ", shown);
	}
	printf("%s\n", json_array_size(list) == 0 ? " -" : "");
}

static void print_grants(const char *title, const json_t *list)
{
	size_t i;
	json_t *g;

	json_array_foreach(list, i, g)
	{
		const char *message = json_get_string(g, "message");
		const char *reason = json_get_string(g, "reason");
		auto_free char *why = message ? cli_plain(message) : NULL;
		printf("%-12s %s  %s (%s)%s%s%s%s\n", title, json_get_string(g, "grant"),
			json_get_string(g, "secret"), json_get_string(g, "kind"),
			reason ? ": " : "", reason ? reason : "", why ? ": " : "", why ? why : "");
	}
}

static void print_preview(const json_t *j)
{
	static const char *const lists[] = {"env", "files", "devices", "interfaces", "repos"};
	const char *expires = json_get_string(j, "expires_at");

	print_grants("granted", json_object_get(j, "granted"));
	print_grants("filtered", json_object_get(j, "filtered"));
	print_grants("denied", json_object_get(j, "denied"));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		print_names(lists[i], json_object_get(j, lists[i]));
	printf("%-12s %s\n", "expires", expires ? expires : "-");
}

/* The one that is meant where neither --executor nor a binding names one. */
static int name_default(struct cli *c, char **ret, struct error *err)
{
	AUTO(config) config = {0};
	const char *path = cli_config(c, err);

	if (!path || config_load(path, &config, err) < 0)
		return -1;
	*ret = mem_strdup(config_default_executor(&config));
	return 0;
}

static int run_preview(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	auto_free char *otherwise = NULL;
	auto_json *j = NULL;
	const char *project = cli_option(c, "--project");
	struct lease_preview p = {
		.project = project ? project : c->dir, .executor = cli_option(c, "--executor")};

	if ((!p.executor && name_default(c, &otherwise, err) < 0) ||
		cli_home_open_due(c, &home, err) < 0)
		return -1;
	p.home = home.path;
	p.otherwise = otherwise;
	if (lease_preview(&p, &j, err) < 0)
		return -1;
	if (c->json)
		cli_print_json(json_incref(j));
	else
		print_preview(j);
	return CLI_OK;
}

static const struct option preview_options[] = {
	{"--project", "DIR", "of a run in this project (default: that of -C)", NULL, false},
	{"--executor", "ID",
		"of a run on this executor (default: the one it is bound to, else the default)",
		NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_secret_lease = {
	.group = "secret",
	.name = "lease",
	.summary = "show what a run would get; starts nothing",
	.flags = VERB_PROJECT,
	.options = preview_options,
	.help = "A dry run: which grants match, what each of them brings by name, what the "
		"project's file filters away and what is denied, with the reason. Payloads are "
		"opened and checked as for a run; no value is shown, nothing is staged or put on "
		"record.",
	.run = run_preview,
};

/* ---- lease list ---- */

/* Of a lease's grants: what was not taken back. */
static size_t count_held(const json_t *l)
{
	size_t n = 0, i;
	json_t *g;

	json_array_foreach(json_object_get(l, "grants"), i, g) n +=
		!json_get_bool(g, "taken_back", false);
	return n;
}

static void print_leases(const json_t *list)
{
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *l;

	table_titles(
		&t, (const char *[]){"ID", "RUN", "GRANTS", "EXPIRES", "STATE", "PROJECT", NULL});
	json_array_foreach(list, i, l)
	{
		auto_free char *held = mem_printf("%zu", count_held(l));
		table_row(&t, (const char *[]){json_get_string(l, "id"), json_get_string(l, "run"),
				      held, json_get_string(l, "expires_at"),
				      json_get_string(l, "state"), json_get_string(l, "project")});
	}
	table_print(&t);
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	auto_json *list = json_array();

	if (cli_home_open_due(c, &home, err) < 0)
		return -1;
	int r = store_open_existing(home.path, &store, err);
	if (r < 0 || (r == 0 && (leases_sweep(&home, store, false, err) < 0 ||
					leases_list(store, list, err) < 0)))
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:O}", "leases", list));
		return CLI_OK;
	}
	print_leases(list);
	return CLI_OK;
}

const struct verb cmd_lease_list = {
	.group = "lease",
	.name = "list",
	.summary = "list what runs hold now",
	.flags = VERB_JSON | VERB_HOME,
	.help = "Oldest first. GRANTS counts those that were not taken back. A lease of a run that "
		"ended is released here if nobody did it before.",
	.run = run_list,
};

/* ---- lease extend ---- */

static void print_extension(const json_t *j)
{
	const json_t *grants = json_object_get(j, "grants");
	size_t i;
	json_t *g;

	printf("%s until %s\n", json_get_string(j, "lease"), json_get_string(j, "expires_at"));
	json_array_foreach(grants, i, g) printf("  %-30s  %-14s %s\n", json_get_string(g, "grant"),
		json_get_string(g, "kind"), json_get_string(g, "result"));
}

static int no_lease(const char *run, struct error *err)
{
	return error_set(err, ERROR_LEASE_NOT_FOUND, "run %s holds no lease", quoted_string(run));
}

static int import_events(
	struct cli *c, struct store *store, const struct home *home, struct error *err)
{
	const char *run = cli_option(c, "--run");
	int r = egress_events_import(store, home, run, err);

	if (r > 0)
		return error_set(err, ERROR_LEASE_NOT_FOUND, "run %s has no egress session",
			quoted_string(run));
	if (r == 0 && c->json)
		cli_print_json(json_pack("{s:s}", "run", run));
	return r;
}

static int extend(struct cli *c, struct store *store, const struct home *home, struct error *err)
{
	auto_error struct error late = ERROR_INIT;
	auto_json *j = NULL;

	if (leases_extend(store, cli_option(c, "--run"), &j, err) < 0)
		return -1;
	if (egress_events_import(store, home, cli_option(c, "--run"), &late) < 0)
		log_warning("what the run's proxy told is not in the audit trail yet: %s",
			late.message);
	if (c->json)
		cli_print_json(json_incref(j));
	else
		print_extension(j);
	return 0;
}

static int run_extend(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	const char *run = cli_option(c, "--run");

	if (!run)
		return cli_usage(c, err, "name the run with --run HANDLE");
	if (cli_home_open(c, &home, err) < 0)
		return -1;
	int r = store_open_existing(home.path, &store, err);
	if (r > 0)
		return no_lease(run, err);
	if (r == 0)
		r = cli_flag(c, "--events") ? import_events(c, store, &home, err)
					    : extend(c, store, &home, err);
	return r < 0 ? -1 : CLI_OK;
}

static const struct option extend_options[] = {
	{"--run", "HANDLE", "the run whose lease it is", NULL, false},
	{"--events", NULL,
		"extend nothing: only take over into the audit trail what the run's egress proxy "
		"told",
		NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_lease_extend = {
	.group = "lease",
	.name = "extend",
	.summary = "judge a run's grants anew; the supervisor's timer",
	.flags = VERB_JSON | VERB_HOME,
	.options = extend_options,
	.help = "What the supervisor of a run starts every five minutes. Each grant is answered "
		"with ok, expired or revoked; the lease ends 15 minutes from now unless a grant "
		"ends before, and never earlier than it was to end already.\n"
		"What the run's egress proxy told meanwhile comes into the audit trail.",
	.run = run_extend,
};
