/* cloop project list, show, set, forget (config.md §4). */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/actor.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/project-path.h"
#include "cli/table.h"
#include "executor/rundir/home.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "limits/effective.h"
#include "run/ceilings.h"
#include "run/forget.h"
#include "run/look.h"
#include "store/ceiling.h"
#include "store/project.h"
#include "store/task.h"

static json_t *describe(const struct store_project *p, bool known)
{
	return json_pack("{s:o, s:b, s:o, s:s, s:o}", "project", json_from_bytes(p->path), "known",
		known, "executor", p->executor.p ? json_from_bytes(p->executor) : json_null(),
		"provider", store_provider_text(p->provider), "first_seen",
		known ? json_from_bytes(p->first_seen) : json_null());
}

static void add(void *list, const struct store_project *p)
{
	json_array_append_new(list, describe(p, true));
}

static void print(const json_t *list)
{
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *p;

	table_titles(&t, (const char *[]){"EXECUTOR", "PROVIDER", "FIRST SEEN", "PROJECT", NULL});
	json_array_foreach(list, i, p) table_row(
		&t, (const char *[]){json_get_string(p, "executor"), json_get_string(p, "provider"),
			    json_get_string(p, "first_seen"), json_get_string(p, "project")});
	table_print(&t);
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_json *list = json_array();

	int r = project_path_store(c, false, &store, err);
	if (r < 0 || (r == 0 && store_project_list(store, add, list, err) < 0))
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:O}", "projects", list));
		return CLI_OK;
	}
	print(list);
	return CLI_OK;
}

/* store: NULL = the home has none. */
static int show(const struct cli *c, struct store *store, const char *path, struct error *err)
{
	auto_json *found = json_array();
	struct limits ceiling = {0};

	if (store && store_project_show(store, path, add, found, err) < 0)
		return -1;
	if (json_array_size(found) == 0) {
		struct store_project unknown = {.path = text_of(path)};
		json_array_append_new(found, describe(&unknown, false));
	}
	json_t *p = json_array_get(found, 0);
	if (store && store_ceiling_get(store, CEILING_PROJECT, path, &ceiling, err) < 0)
		return -1;
	json_object_set_new(p, "limits", effective_limits_to_json(&ceiling));
	if (c->json) {
		cli_print_json(json_incref(p));
		return CLI_OK;
	}
	print(found);
	auto_free char *text = ceilings_render(&ceiling);
	printf("ceiling: %s\n", text);
	return CLI_OK;
}

static int run_show(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_free char *path = project_path_gone(c, err);

	return path && project_path_store(c, false, &store, err) >= 0 ? show(c, store, path, err)
								      : -1;
}

/* What can be set, and to what. */
static int read_setting(const struct cli *c, enum store_provider *ret, struct error *err)
{
	const char *key = cli_arg(c, 0), *value = cli_arg(c, 1);

	if (strcmp(key, "provider") != 0)
		return cli_usage(c, err, "%s cannot be set; provider can", quoted_string(key));
	int provider = store_provider_from_text(text_of(value));
	if (provider < 0)
		return cli_usage(c, err, "provider is claudecode, copilot or none, not %s",
			quoted_string(value));
	*ret = (enum store_provider)provider;
	return 0;
}

static int run_set(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	enum store_provider provider = STORE_PROVIDER_NONE;

	if (read_setting(c, &provider, err) < 0)
		return -1;
	auto_free char *path = project_path(c, err);
	if (!path || project_path_store(c, true, &store, err) < 0 ||
		store_project_set_provider(store, path, provider, err) < 0)
		return -1;
	if (c->json)
		return show(c, store, path, err);
	auto_free char *shown = cli_plain(path);
	printf("the provider of %s is %s\n", shown, store_provider_text(provider));
	return CLI_OK;
}

/* ---- Forgetting ---- */

/* The first task of the project that an attempt has. */
struct running {
	int64_t id; /* 0: none */
	char *run;  /* NULL: it has none yet */
};

static void keep_running(void *data, const struct store_task *t)
{
	struct running *r = data;

	if (r->id != 0 || t->state != STORE_TASK_RUNNING)
		return;
	r->id = t->id;
	r->run = t->run.p ? mem_strndup(t->run.p, t->run.len) : NULL;
}

static int refuse_tasks(struct store *s, const char *path, struct error *err)
{
	struct running found = {0, NULL};

	int r = store_task_list(s, path, keep_running, &found, err);
	auto_free char *run = found.run;
	if (r < 0 || found.id == 0)
		return r;
	error_set(err, ERROR_TASK_STATE, "task %lld of %s is running%s%s", (long long)found.id,
		quoted_string(path), run ? " in run " : "", run ? run : "");
	return run ? error_set_remedy(err, "wait for it, or end it: cloop stop %s", run)
		   : error_set_remedy(err, "see: cloop task show %lld", (long long)found.id);
}

/* 1 it does, 0, -1: that cannot be told. */
static int goes_on(const struct home *home, const char *handle, const char *path, struct error *err)
{
	auto_error struct error ignored = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	int gone = rundir_look(home, handle, &run, err);
	if (gone != 0)
		return gone < 0 ? -1 : 0;
	auto_json *record = rundir_read(&run, RECORD_FILE, &ignored);
	const char *project = json_get_string(record, "project");
	return record && !record_final(record) && project && strcmp(project, path) == 0;
}

static int refuse_runs(const struct home *home, const char *path, struct error *err)
{
	AUTO(strv) handles = STRV_INIT(RUNDIR_RUNS_MAX);

	if (rundir_list(home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles) {
		int r = goes_on(home, *handle, path, err);
		if (r < 0)
			return -1;
		if (r == 0)
			continue;
		error_set(err, ERROR_TASK_STATE, "run %s of %s goes on", *handle,
			quoted_string(path));
		return error_set_remedy(err, "wait for it, or end it: cloop stop %s", *handle);
	}
	return 0;
}

/* What runs would write rows of a project that is not known any more. */
static int refuse_running(struct cli *c, struct store *s, const char *path, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	if (cli_home_open(c, &home, err) < 0)
		return -1;
	look_at_tasks(&home);
	return refuse_tasks(s, path, err) < 0 ? -1 : refuse_runs(&home, path, err);
}

static int run_forget(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_free char *actor = actor_name();
	auto_free char *path = project_path_gone(c, err);
	int r = path ? project_path_store(c, false, &store, err) : -1;
	if (r == 0)
		r = refuse_running(c, store, path, err);
	if (r == 0)
		r = forget_project(store, path, actor, err);
	if (r < 0)
		return -1;
	if (r > 0)
		return error_set(err, ERROR_PROJECT_UNKNOWN, "%s is not known to this home",
			quoted_string(path));
	if (c->json)
		cli_print_json(
			json_pack("{s:o, s:b}", "project", json_from_string(path), "forgotten", 1));
	else
		printf("forgotten: %s\n", quoted_string(path));
	return CLI_OK;
}

enum { FLAGS = VERB_JSON | VERB_DIR | VERB_HOME };

const struct verb cmd_project_list = {
	.group = "project",
	.name = "list",
	.summary = "list the projects that this home knows",
	.flags = VERB_JSON | VERB_HOME,
	.help = "A project is a directory; it is known from its first run on, or from project set.",
	.run = run_list,
};

const struct verb cmd_project_show = {
	.group = "project",
	.name = "show",
	.summary = "show what is set for a project",
	.flags = FLAGS,
	.help = "Shows the project of the current directory, or of -C: the executor that it is "
		"bound to (cloop executor bind) and its provider. One that is not known has "
		"neither.",
	.run = run_show,
};

const struct verb cmd_project_set = {
	.group = "project",
	.name = "set",
	.summary = "set something for a project",
	.args = "KEY VALUE",
	.min_args = 2,
	.max_args = 2,
	.flags = FLAGS,
	.help = "Sets what is not the repository's to say. The one key is provider: claudecode, "
		"copilot or none. An image that lists what it carries (label org.cloop.harnesses) "
		"must carry the provider's program: claude for claudecode, copilot for copilot. A "
		"directory that is moved is another project.\n"
		"  cloop project set provider claudecode",
	.run = run_set,
};

const struct verb cmd_project_forget = {
	.group = "project",
	.name = "forget",
	.summary = "drop what is set for a project",
	.flags = FLAGS,
	.help = "Drops the rows of a project in this home, never a file. The directory may be "
		"gone, or a link by now: "
		"name it with -C as project list shows it. Refused while a task or a run of it "
		"goes "
		"on.",
	.run = run_forget,
};
