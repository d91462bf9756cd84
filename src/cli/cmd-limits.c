/* cloop limits list, set, clear (sandbox-spec.md §10). */
#include <assert.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/project-path.h"
#include "cli/unheld.h"
#include "cli/table.h"
#include "limits/effective.h"
#include "executor/drivers/drivers.h"
#include "run/ceilings.h"
#include "run/choice.h"
#include "store/ceiling.h"

/* ---- Whose ceiling ---- */

struct target {
	enum ceiling source;
	char *subject; /* the executor's id, or the project's path */
};
#define TARGET_INIT ((struct target){CEILING_PROJECT, NULL})

static void target_done(struct target *t)
{
	free(t->subject);
}

/* --executor, else the project; `gone`: its directory may be. */
static int read_target(struct cli *c, bool gone, struct target *ret, struct error *err)
{
	const char *executor = cli_option(c, "--executor");

	if (!executor) {
		ret->subject = gone ? project_path_gone(c, err) : project_path(c, err);
		return ret->subject ? 0 : -1;
	}
	if (cli_option(c, "-C"))
		return cli_usage(c, err, "-C names a project and --executor an executor: give one");
	ret->source = CEILING_EXECUTOR;
	ret->subject = mem_strdup(executor);
	return 0;
}

/* ---- Showing ---- */

static json_t *subject_if(bool is, struct text subject)
{
	return is ? json_from_bytes(subject) : json_null();
}

static json_t *describe(const struct store_ceiling *c)
{
	auto_error struct error broken = ERROR_INIT;
	auto_free char *subject = mem_strndup(c->subject.p ? c->subject.p : "", c->subject.len);
	auto_free char *text = ceilings_render(&c->limits);
	bool stored = c->source != CEILING_FLEET;
	bool bad = stored && ceilings_check_stored(c->source, subject, &c->limits, &broken) < 0;

	json_t *j = json_pack("{s:s, s:o, s:o, s:o, s:s}", "source", ceiling_text(c->source),
		"executor", subject_if(c->source == CEILING_EXECUTOR, c->subject), "project",
		subject_if(c->source == CEILING_PROJECT, c->subject), "limits",
		effective_limits_to_json(&c->limits), "text", text);
	json_object_set_new(j, "set_at", subject_if(c->set_at.p, c->set_at));
	json_object_set_new(j, "set_by", subject_if(c->set_by.p, c->set_by));
	json_object_set_new(j, "error", json_from_string(bad ? broken.message : NULL));
	return j;
}

static void add(void *list, const struct store_ceiling *c)
{
	json_array_append_new(list, describe(c));
}

static void print(struct table *t, const json_t *j)
{
	const char *executor = json_get_string(j, "executor");
	const char *project = json_get_string(j, "project");
	const char *broken = json_get_string(j, "error");
	const char *whose = executor ? executor : project ? project : "every run: executors.limits";
	auto_free char *fault = broken ? mem_printf("refuses its runs: %s", broken) : NULL;

	table_row(t, (const char *[]){json_get_string(j, "source"), json_get_string(j, "set_at"),
			     json_get_string(j, "text"), whose});
	if (fault)
		table_row(t, (const char *[]){"", "", "", fault});
}

static int add_fleet(struct cli *c, json_t *list, struct error *err)
{
	AUTO(config) config = {0};
	const char *path = cli_config(c, err);

	if (!path || config_load(path, &config, err) < 0)
		return -1;
	add(list, &(struct store_ceiling){.source = CEILING_FLEET, .limits = config.fleet});
	return 0;
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_json *list = json_array();
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *one;

	int r = add_fleet(c, list, err) < 0 ? -1 : project_path_store(c, false, &store, err);
	if (r < 0 || (r == 0 && store_ceiling_list(store, add, list, err) < 0))
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:O}", "ceilings", list));
		return CLI_OK;
	}
	table_titles(&t, (const char *[]){"SOURCE", "SET", "CEILING", "OF", NULL});
	json_array_foreach(list, i, one) print(&t, one);
	table_print(&t);
	return CLI_OK;
}

/* ---- Changing ---- */

/* The option of each resource is its name. */
static const char *const option_names[] = {
	[RESOURCE_CPU] = "--cpu",
	[RESOURCE_MEMORY] = "--memory",
	[RESOURCE_DISK] = "--disk",
	[RESOURCE_PIDS] = "--pids",
};
static_assert(ARRAY_SIZE(option_names) == RESOURCE_COUNT, "an option for every resource");

static int read_amounts(const struct cli *c, struct ceilings_change *ret, struct error *err)
{
	bool any = false;

	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		const char *text = cli_option(c, option_names[r]);
		uint64_t value;
		if (!text)
			continue;
		if (ceiling_parse(r, text_of(text), &value, err) < 0)
			return -1;
		resource_set(&ret->limits, r, value);
		ret->given[r] = any = true;
	}
	return any ? 0 : cli_usage(c, err, "give a ceiling: --cpu, --memory, --disk or --pids");
}

static int read_resources(const struct cli *c, struct ceilings_change *ret, struct error *err)
{
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		ret->given[r] = c->n_args == 0;
	for (size_t i = 0; i < c->n_args; i++) {
		int r = resource_from_text(text_of(cli_arg(c, i)));
		if (r < 0)
			return cli_usage(c, err, "cpu, memory, disk and pids have ceilings, not %s",
				quoted_string(cli_arg(c, i)));
		ret->given[r] = true;
	}
	return 0;
}

static void answer(struct cli *c, const struct target *t, const struct limits *now, bool changed,
	json_t *warnings)
{
	struct store_ceiling row = {
		.source = t->source, .subject = text_of(t->subject), .limits = *now};
	json_t *j = describe(&row);

	json_object_del(j, "set_at");
	json_object_del(j, "set_by");
	json_object_set_new(j, "changed", json_boolean(changed));
	json_object_set(j, "warnings", warnings);
	if (c->json) {
		cli_print_json(j);
		return;
	}
	auto_free char *whose = cli_plain(t->subject);
	printf("the ceiling of %s %s is %s: %s\n", ceiling_text(t->source), whose,
		changed ? "now" : "already", json_get_string(j, "text"));
	unheld_print(warnings);
	json_decref(j);
}

static int change(struct cli *c, const struct target *t, struct ceilings_change *change,
	json_t *warnings, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_free char *actor = actor_name();
	struct limits now = {0};

	change->source = t->source;
	change->subject = t->subject;
	change->actor = actor;
	/* Where there is no store there is nothing to take away. */
	int r = project_path_store(c, ceilings_any(&change->limits), &store, err);
	if (r == 0)
		r = ceilings_change(store, change, &now, err);
	if (r < 0)
		return -1;
	answer(c, t, &now, r == 0, warnings);
	return CLI_OK;
}

/* One that the operator has not switched on can have a ceiling beforehand. */
static int warn_of_executor(const struct context *context, const char *id, const struct limits *l,
	json_t *warnings, struct error *err)
{
	struct candidate able = {0};
	const struct executor *e = executor_list_find(&context->executors, id, err);

	if (e) {
		unheld_add(e, l, warnings);
		return 0;
	}
	if (!drivers_off(id, &able))
		return -1;
	error_clear(err);
	unheld_add_able(id, &able, l, warnings);
	return 0;
}

/* The executor that a run of the project would get now; where that is none, runs will say so. */
static void warn_of_project(
	const struct context *context, const char *path, const struct limits *l, json_t *warnings)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO_PTR(store) store = NULL;
	AUTO(provider) provider = PROVIDER_INIT;
	AUTO(choice) choice = {0};
	struct requirement nothing = {0};
	struct choice_input wanted = {.need = &nothing};

	if (store_open_existing(context->home.path, &store, &ignored) < 0 ||
		provider_load(store, path, &provider, &ignored) < 0)
		return;
	wanted.binding = provider.executor;
	if (choice_make(context, &wanted, &choice, &ignored) == 0)
		unheld_add(choice.executor, l, warnings);
}

/* Whoever sets a ceiling that the executor cannot hold is told at once (§10.3). */
static int warn_unheld(struct cli *c, const struct target *t, const struct limits *l,
	json_t *warnings, struct error *err)
{
	AUTO(context) context = {.home = HOME_INIT};

	if (cli_context_open(c, &context, err) < 0)
		return -1;
	if (t->source == CEILING_EXECUTOR)
		return warn_of_executor(&context, t->subject, l, warnings, err);
	warn_of_project(&context, t->subject, l, warnings);
	return 0;
}

static int run_set(struct cli *c, struct error *err)
{
	AUTO(target) target = TARGET_INIT;
	struct ceilings_change wanted = {0};
	auto_json *warnings = json_array();

	if (read_amounts(c, &wanted, err) < 0 || read_target(c, false, &target, err) < 0 ||
		warn_unheld(c, &target, &wanted.limits, warnings, err) < 0)
		return -1;
	return change(c, &target, &wanted, warnings, err);
}

static int run_clear(struct cli *c, struct error *err)
{
	AUTO(target) target = TARGET_INIT;
	struct ceilings_change wanted = {0};
	auto_json *warnings = json_array();

	if (read_resources(c, &wanted, err) < 0 || read_target(c, true, &target, err) < 0)
		return -1;
	return change(c, &target, &wanted, warnings, err);
}

const struct verb cmd_limits_list = {
	.group = "limits",
	.name = "list",
	.summary = "list the ceilings of the fleet, executors, projects",
	.flags = VERB_JSON | VERB_HOME | VERB_CONFIG,
	.help = "The fleet's ceiling is executors.limits of the configuration. Of the three that "
		"concern a run the lowest counts, resource by resource.",
	.run = run_list,
};

static const struct option set_options[] = {
	{"--executor", "ID", "of this executor, not of the project", NULL, false},
	{"--cpu", "CORES", "cores: 2, 0.5 (0 to 1024)", NULL, false},
	{"--memory", "SIZE", "memory: 512m, 4g (64m to 1t)", NULL, false},
	{"--disk", "SIZE", "what the workspace may grow to: 20g (64m to 1t)", NULL, false},
	{"--pids", "N", "processes (1 to 65536)", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_limits_set = {
	.group = "limits",
	.name = "set",
	.summary = "cap what runs of a project or an executor get",
	.flags = VERB_PROJECT,
	.options = set_options,
	.help = "Of the project of the current directory (or -C), or with --executor of every run "
		"there. What is not named stays as it is; 0 is no ceiling.\n"
		"A ceiling lowers what a file asks for and what an executor gives by default, and "
		"is "
		"the limit of runs that would have none; it never raises anything. It holds from "
		"the next start on. Changes are in the audit trail, those of a project in its "
		"journal too.\n"
		"  cloop limits set --memory 2g --pids 256\n"
		"  cloop limits set --executor container --cpu 4 --disk 20g",
	.run = run_set,
};

static const struct option clear_options[] = {
	{"--executor", "ID", "of this executor, not of the project", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_limits_clear = {
	.group = "limits",
	.name = "clear",
	.summary = "take ceilings of a project or an executor away",
	.args = "[cpu|memory|disk|pids]...",
	.max_args = RESOURCE_COUNT,
	.flags = VERB_JSON | VERB_DIR | VERB_HOME,
	.options = clear_options,
	.help = "Without a resource: all of them. The project's directory, or the executor, may be "
		"gone: name it as limits list shows it.\n"
		"  cloop limits clear memory",
	.run = run_clear,
};
