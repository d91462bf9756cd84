/* cloop secret grant, grants (disk-and-secrets.md §14, §15, §19). */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/grant-options.h"
#include "cli/table.h"
#include "executor/rundir/home.h"
#include "store/store.h"
#include "vault/grant.h"
#include "vault/clocks-now.h"
#include "vault/subject.h"

static const struct {
	const char *option, *key;
	bool flag;
} constraint_options[] = {
	{"--repos", "repos", false},
	{"--namespaces", "namespaces", false},
	{"--contexts", "contexts", false},
	{"--registries", "registries", false},
	{"--env-keys", "env_keys", false},
	{"--devices", "devices", false},
	{"--interfaces", "interfaces", false},
	{"--writable", "writable", true},
	{"--block", "block", true},
};

static json_t *read_constraints(const struct cli *c)
{
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(constraint_options); i++) {
		const char *option = constraint_options[i].option;
		json_t *value = NULL;
		if (!constraint_options[i].flag)
			value = grant_options_list(c, option);
		else if (cli_flag(c, option))
			value = json_true();
		if (value)
			json_object_set_new(object, constraint_options[i].key, value);
	}
	return object;
}

static void print_granted(const json_t *g)
{
	auto_free char *subject = cli_plain(json_get_string(g, "subject"));
	auto_free char *summary = cli_plain(json_get_string(g, "summary"));

	printf("%s\n", json_get_string(g, "id"));
	printf("  secret       %s (%s)\n", json_get_string(g, "secret"),
		json_get_string(g, "kind"));
	printf("  to           %s\n", subject);
	printf("  constraints  %s\n", summary);
	printf("  expires      %s (%s)\n", json_get_string(g, "expires_at"),
		json_get_string(g, "expires"));
}

static int run_grant(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO_PTR(store) store = NULL;
	auto_free char *actor = actor_name();
	auto_json *constraints = read_constraints(c);
	auto_json *granted = NULL;
	struct two_clocks now = clocks_now();
	const char *subject = grant_options_subject(c, err);
	struct grant_request request = {
		.secret = cli_arg(c, 0),
		.subject = text_of(subject),
		.constraints = constraints,
		.scope = cli_option(c, "--scope"),
		.actor = actor,
	};

	if (!subject || grant_options_ttl(c, &request.ttl, err) < 0 ||
		cli_home_open_due(c, &home, err) < 0)
		return -1;
	int r = store_open_existing(home.path, &store, err);
	if (r > 0)
		return error_set(err, ERROR_SECRET_NOT_FOUND, "there is no secret %s",
			quoted_string(request.secret));
	if (r < 0 || grant_make(store, &request, &now, &granted, err) < 0)
		return -1;
	if (c->json)
		cli_print_json(json_incref(granted));
	else
		print_granted(granted);
	grant_options_warn(json_get_string(granted, "subject"));
	return CLI_OK;
}

static void print_row(struct table *t, const json_t *g)
{
	const char *revocation = json_get_string(g, "revocation");
	bool open = revocation && strcmp(revocation, "revoked") != 0;

	table_row(t, (const char *[]){json_get_string(g, "id"), json_get_string(g, "secret"),
			     json_get_string(g, "kind"),
			     open ? revocation : json_get_string(g, "expires"),
			     json_get_string(g, "subject"), json_get_string(g, "summary")});
}

static int run_grants(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	AUTO(subject) subject = {.text = NULL};
	auto_json *list = json_array();
	struct grant_filter filter = {
		.secret = cli_option(c, "--secret"), .all = cli_flag(c, "--all")};
	struct two_clocks now = clocks_now();
	const char *wanted = cli_option(c, "--subject");
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *g;

	int r = grant_options_look(c, wanted, &subject, &store, err);
	filter.subject = text_of(subject.text);
	if (r < 0 || (r == 0 && grant_list(store, &filter, &now, list, err) < 0))
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:O}", "grants", list));
		return CLI_OK;
	}
	table_titles(&t, (const char *[]){"ID", "SECRET", "KIND", "EXPIRES", "SUBJECT",
				 "CONSTRAINTS", NULL});
	json_array_foreach(list, i, g) print_row(&t, g);
	table_print(&t);
	return CLI_OK;
}

static const struct option grant_options[] = {
	{"--to", "SUBJECT", "who gets it: any, project:/PATH, executor:ID, label:K=V", NULL, false},
	{"--subject", "SUBJECT", "the same as --to", NULL, false},
	{"--env-keys", "A,B", "of kind env: only these variables", NULL, true},
	{"--devices", "A,B", "of kind host_device: these devices", NULL, true},
	{"--interfaces", "A,B", "of kind host_interface: these interfaces", NULL, true},
	{"--repos", "A,B", "of kind local_repo: these repositories; * and ? match", NULL, true},
	{"--registries", "A,B", "of kind registry: logins for these hosts", NULL, true},
	{"--contexts", "A,B", "of kind kubeconfig: these contexts", NULL, true},
	{"--namespaces", "A,B", "of kind kubeconfig: only in these namespaces", NULL, true},
	{"--writable", NULL, "of kind local_repo, host_device: not only to read", NULL, false},
	{"--block", NULL, "of kind host_device: disks too", NULL, false},
	{"--scope", "TEXT", "a label for people", NULL, false},
	{"--ttl", "DURATION", "how long it holds (default 24h; 60s to 365d)", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_secret_grant = {
	.group = "secret",
	.name = "grant",
	.summary = "let runs have a secret, for a time",
	.args = "NAME",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME,
	.options = grant_options,
	.help = "Every run that the subject matches gets what the grant allows of the secret, from "
		"its next start on. A grant always ends: after --ttl, or when it is revoked.\n"
		"Subjects: any; project:/PATH, byte for byte the resolved path; executor:ID; "
		"project:* and executor:*; label:K=V[,K=V], all of which the run must have.\n"
		"Which constraints a grant must or may have depends on the secret's kind: devices, "
		"interfaces, repos, registries and contexts are required for theirs.\n"
		"  cloop secret grant npm-token --to project:/srv/app --ttl 7d\n"
		"  cloop secret grant lab --to executor:container --devices serial0 --writable",
	.run = run_grant,
};

static const struct option grants_options[] = {
	{"--subject", "SUBJECT", "only those to this subject", NULL, false},
	{"--secret", "NAME", "only those of this secret", NULL, false},
	{"--all", NULL, "those that expired or were revoked too", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_secret_grants = {
	.group = "secret",
	.name = "grants",
	.summary = "list who may have which secret",
	.flags = VERB_JSON | VERB_HOME,
	.options = grants_options,
	.help = "Oldest first. A grant that was revoked stays in the list until every run that "
		"held "
		"it has given it back: revoke_pending, unreachable (tried again by later "
		"commands) "
		"or failed (rotate the credential at its source).",
	.run = run_grants,
};
