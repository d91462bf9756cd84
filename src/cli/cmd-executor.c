/* cloop executor list, show, test, reap (cli.md). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "executor/container/runtime.h"
#include "run/context.h"
#include "run/look.h"

enum { NAMES_MAX = 10000, SMOKE_FAILED = 1, PREFLIGHT_FATAL = 2 };

static json_t *describe(const struct executor *e)
{
	const struct error *reason = executor_unavailable_reason(e);
	struct candidate able = {0};

	executor_capabilities(e, &able);
	json_t *j = json_pack("{s:s, s:s, s:b}", "id", e->id, "kind", executor_kind(e), "available",
		reason == NULL);
	json_object_set_new(j, "capabilities", candidate_to_json(&able));
	json_object_set_new(j, "reason", json_from_string(reason ? reason->message : NULL));
	json_object_set_new(
		j, "remediation", json_from_string(reason ? error_remedy(reason) : NULL));
	return j;
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO(context) context = {.home = HOME_INIT};
	auto_json *list = json_array();
	AUTO(table) t = TABLE_INIT;

	if (cli_context_open(c, &context, err) < 0)
		return -1;
	look_at_runs(&context.home);
	cli_revoke_due(c, &context.home);
	const char *chosen = config_default_executor(&context.config);
	table_titles(&t, (const char *[]){"ID", "KIND", "STATE", "DEFAULT", "REASON", NULL});
	for (size_t i = 0; i < context.executors.n; i++) {
		const struct executor *e = context.executors.items[i];
		const struct error *reason = executor_unavailable_reason(e);
		json_t *one = describe(e);
		bool usual = strcmp(e->id, chosen) == 0;
		json_object_set_new(one, "default", json_boolean(usual));
		json_array_append_new(list, one);
		table_row(&t,
			(const char *[]){e->id, executor_kind(e), reason ? "unavailable" : "ready",
				usual ? "default" : "-", reason ? reason->message : "-"});
	}
	if (c->json)
		cli_print_json(json_pack("{s:O}", "executors", list));
	else
		table_print(&t);
	return CLI_OK;
}

static int run_show(struct cli *c, struct error *err)
{
	AUTO(context) context = {.home = HOME_INIT};
	const char *key;
	json_t *value;

	if (cli_context_open(c, &context, err) < 0)
		return -1;
	const struct executor *e = context_executor(&context, cli_arg(c, 0), err);
	if (!e)
		return -1;
	json_t *j = describe(e);
	if (c->json) {
		cli_print_json(j);
		return CLI_OK;
	}
	json_object_foreach(json_object_get(j, "capabilities"), key, value)
	{
		auto_free char *text = cli_shown(value);
		printf("%-28s %s\n", key, text);
	}
	json_decref(j);
	return CLI_OK;
}

static void print_findings(const json_t *findings)
{
	size_t i;
	json_t *f;

	json_array_foreach(findings, i, f)
	{
		const char *said = json_get_string(f, "message"), *mend = json_get_string(f, "fix");
		auto_free char *message = cli_plain(said ? said : "");
		auto_free char *fix = cli_plain(mend ? mend : "");
		printf("%-5s %-22s %s\n", json_get_string(f, "level"), json_get_string(f, "name"),
			message);
		if (fix[0])
			printf("      fix: %s\n", fix);
	}
}

/* Why an executor could not even be made is what preflight's first checks find. */
static json_t *unavailable_report(const struct executor *e, const struct error *reason)
{
	const char *check = error_is(reason, ERROR_RUNTIME_REMOTE) ? "daemon" : "runtime";
	json_t *finding = json_pack("{s:s, s:s, s:o, s:o}", "name", check, "level", "fail",
		"message", json_from_string(reason->message), "fix",
		json_from_string(error_remedy(reason)));

	return json_pack("{s:s, s:s, s:n, s:n, s:[o], s:b, s:s}", "executor_id", e->id, "runtime",
		runtime_text(NULL), "oci_runtime", "image", "findings", finding, "ok", 0, "code",
		error_code_text(reason->code));
}

static int preflight(struct cli *c, const struct executor *e, json_t **ret, struct error *err)
{
	const struct error *reason = executor_unavailable_reason(e);

	if (!reason)
		return executor_preflight(e, cli_option(c, "-C") ? c->dir : NULL, ret, err);
	*ret = unavailable_report(e, reason);
	return 0;
}

/* 0 ok, 1 the smoke run failed, 2 preflight is fatal. */
static int test(struct cli *c, const struct executor *e, json_t *answer, struct error *err)
{
	auto_error struct error failure = ERROR_INIT;
	auto_json *report = NULL, *smoke = NULL;

	if (preflight(c, e, &report, err) < 0)
		return -1;
	json_object_update(answer, report);
	json_object_set_new(answer, "smoke", json_null());
	if (!c->json)
		print_findings(json_object_get(report, "findings"));
	if (!json_get_bool(report, "ok", false))
		return PREFLIGHT_FATAL;
	int r = executor_smoke_test(e, NULL, &smoke, &failure);
	json_object_set(answer, "smoke", smoke);
	if (r < 0)
		json_object_set_new(answer, "smoke_error", error_to_json(&failure));
	if (!c->json && r < 0)
		cli_print_error(c, &failure);
	else if (!c->json)
		printf("smoke: %s\n", json_get_string(smoke, "output"));
	return r < 0 ? SMOKE_FAILED : CLI_OK;
}

static int run_test(struct cli *c, struct error *err)
{
	AUTO(context) context = {.home = HOME_INIT};
	auto_json *answer = json_object();

	if (cli_context_open(c, &context, err) < 0)
		return -1;
	const struct executor *e = context_executor(&context, cli_arg(c, 0), err);
	if (!e)
		return -1;
	int status = test(c, e, answer, err);
	if (status >= 0 && c->json)
		cli_print_json(json_incref(answer));
	return status;
}

static int run_reap(struct cli *c, struct error *err)
{
	AUTO(context) context = {.home = HOME_INIT};
	AUTO(strv) names = STRV_INIT(NAMES_MAX);

	if (cli_context_open(c, &context, err) < 0)
		return -1;
	const struct executor *e = context_executor(&context, cli_arg(c, 0), err);
	if (!e)
		return -1;
	look_at_runs(&context.home);
	cli_revoke_due(c, &context.home);
	int r = executor_reap_orphans(e, context.home.path, &names, err);
	if (c->json && r == 0)
		cli_print_json(json_pack("{s:o}", "removed", json_from_strings(names.v, names.n)));
	else if (c->json)
		error_add_detail(err, "removed", json_from_strings(names.v, names.n));
	for (size_t i = 0; !c->json && i < names.n; i++)
		printf("%s\n", names.v[i]);
	return r < 0 ? -1 : CLI_OK;
}

enum { FLAGS = VERB_JSON | VERB_HOME | VERB_CONFIG };

const struct verb cmd_executor_list = {
	.group = "executor",
	.name = "list",
	.summary = "list the executors of this host",
	.flags = FLAGS,
	.run = run_list,
};

const struct verb cmd_executor_show = {
	.group = "executor",
	.name = "show",
	.summary = "show what an executor can do",
	.args = "[ID]",
	.max_args = 1,
	.flags = FLAGS,
	.run = run_show,
};

const struct verb cmd_executor_test = {
	.group = "executor",
	.name = "test",
	.summary = "check an executor and run something in it",
	.args = "[ID]",
	.max_args = 1,
	.flags = FLAGS | VERB_DIR,
	.help = "Preflight, then a real run that prints the version of the sandbox's own cloop. "
		"Exits with 0 "
		"when both went well, 1 when the run failed, 2 when a check is fatal.",
	.exits = "0 both went well; 1 the run failed; 2 a check is fatal, or wrong usage",
	.run = run_test,
};

const struct verb cmd_executor_reap = {
	.group = "executor",
	.name = "reap",
	.summary = "remove what dead runs left behind",
	.args = "[ID]",
	.max_args = 1,
	.flags = FLAGS,
	.help = "Prints the names of what was removed: containers of runs that are over, images "
		"made for setup that no run used for executors.container.derived_image_days, and "
		"what interrupted builds left. Containers and images of other homes and users are "
		"never touched.",
	.run = run_reap,
};
