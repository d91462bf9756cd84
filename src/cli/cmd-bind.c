/* cloop executor bind (cli.md, config.md §4). */
#include <stdio.h>

#include "base/json.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/project-path.h"
#include "executor/drivers/drivers.h"
#include "run/binding.h"
#include "run/choice.h"
#include "spec/spec-load.h"
#include "store/store.h"

/* One that the operator has not switched on can be bound to beforehand. */
static int find(const struct context *context, const char *id, struct error *err)
{
	struct candidate unused;

	if (executor_list_find(&context->executors, id, err))
		return 0;
	if (!drivers_off(id, &unused))
		return -1;
	error_clear(err);
	return 0;
}

/* Says now what the next run would say. */
static void warn(const struct context *context, const char *project, struct store *s)
{
	auto_error struct error refusal = ERROR_INIT;
	AUTO(provider) bound = PROVIDER_INIT;
	AUTO(spec_result) file;
	const struct choice_file f = {&file, &bound};
	bool unused;

	spec_result_init(&file);
	if (provider_load(s, project, &bound, &refusal) < 0 || !bound.executor ||
		spec_load_dir(project, &judge_spec_checks, &file, &refusal) < 0 || !file.ok ||
		choice_judge_file(context, &f, &unused, &refusal) == 0)
		return;
	fprintf(stderr, "cloop: note: runs will be refused: %s\n", refusal.message);
}

static int print(const struct cli *c, const struct binding *b, const char *previous)
{
	auto_free char *shown = cli_plain(b->project);

	if (c->json)
		cli_print_json(json_pack("{s:o, s:o, s:o}", "project", json_from_string(b->project),
			"executor", json_from_string(b->executor), "previous",
			json_from_string(previous)));
	else if (b->executor)
		printf("%s is bound to executor %s\n", shown, b->executor);
	else
		printf("%s is bound to no executor\n", shown);
	return CLI_OK;
}

static int bind_to(struct cli *c, struct binding *b, struct error *err)
{
	AUTO(context) context = {.home = HOME_INIT};
	AUTO_PTR(store) store = NULL;
	auto_free char *previous = NULL;

	if (cli_context_open(c, &context, err) < 0 || find(&context, b->executor, err) < 0 ||
		store_open(context.home.path, &store, err) < 0 ||
		binding_set(store, b, &previous, err) < 0)
		return -1;
	warn(&context, b->project, store);
	return print(c, b, previous);
}

static int unbind(struct cli *c, struct binding *b, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_free char *previous = NULL;

	int r = project_path_store(c, false, &store, err);
	if (r < 0 || (r == 0 && binding_set(store, b, &previous, err) < 0))
		return -1;
	return print(c, b, previous);
}

static int run(struct cli *c, struct error *err)
{
	auto_free char *project = project_path(c, err);
	auto_free char *actor = actor_name();
	struct binding b = {.project = project, .executor = cli_arg(c, 0), .actor = actor};

	if (!project)
		return -1;
	return b.executor ? bind_to(c, &b, err) : unbind(c, &b, err);
}

const struct verb cmd_executor_bind = {
	.group = "executor",
	.name = "bind",
	.summary = "bind a project to an executor",
	.args = "[ID]",
	.max_args = 1,
	.flags = VERB_PROJECT,
	.help = "Runs of the project of -C go to this executor, all of what .cloop/sandbox.yaml "
		"asks or not at all. Without ID the binding is taken back; cloop project show "
		"prints it. A run's --executor goes before the binding, the binding before "
		"executors.default. A project that nothing names an executor for is placed: on "
		"the best of those that can do what it asks, and never on one that does not "
		"isolate, unless it is the only one enabled.\n"
		"  cloop executor bind -C /srv/app container",
	.run = run,
};
