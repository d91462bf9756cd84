/* cloop task add, list, show, reset (cli.md). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/project-path.h"
#include "cli/table.h"
#include "executor/rundir/home.h"
#include "run/artifact.h"
#include "run/look.h"
#include "run/project-file.h"
#include "store/journal.h"
#include "store/project.h"
#include "store/query.h"
#include "store/run.h"
#include "store/task.h"

enum { TITLE_MAX = 200, ARGV_BYTES_MAX = 128 << 10, ARGV_MAX = 1024 };

/* The tasks of a project as they are now. */
struct tasks {
	char *project;
	struct store *store; /* NULL: the home has none, and so no tasks */
};

static void tasks_done(struct tasks *t)
{
	free(t->project);
	store_free(t->store);
}

static int open_tasks(struct cli *c, bool make, struct tasks *ret, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	ret->project = make ? project_path(c, err) : project_path_gone(c, err);
	if (!ret->project || cli_home_open(c, &home, err) < 0)
		return -1;
	look_at_tasks(&home);
	cli_revoke_due(c, &home);
	return project_path_store(c, make, &ret->store, err) < 0 ? -1 : 0;
}

static int read_id(const struct cli *c, int64_t *ret, struct error *err)
{
	uint64_t id;

	if (num_parse(text_of(cli_arg(c, 0)), INT64_MAX, &id) != NUM_OK || id == 0)
		return cli_usage(c, err, "%s is no number of a task", quoted_string(cli_arg(c, 0)));
	*ret = (int64_t)id;
	return 0;
}

static int not_found(const struct tasks *t, int64_t id, struct error *err)
{
	return error_set(err, ERROR_TASK_NOT_FOUND, "%s has no task %lld",
		quoted_string(t->project), (long long)id);
}

static json_t *text_or_null(struct text t)
{
	return t.p ? json_from_bytes(t) : json_null();
}

static json_t *argv_or_null(struct text t)
{
	auto_error struct error ignored = ERROR_INIT;
	json_t *argv = t.p ? json_read(t, t.len, "argv", ERROR_IO, &ignored) : NULL;

	return argv ? argv : json_null();
}

/* Where it is, or will be; null of a task that ended without one. */
static json_t *artifact_path(const struct store_task *t)
{
	char name[ARTIFACT_NAME_SIZE];
	auto_free char *project = mem_strndup(t->project.p, t->project.len);
	struct project_file file = {project, "artifacts", name, false};
	bool ended = t->state == STORE_TASK_DONE || t->state == STORE_TASK_FAILED;

	artifact_name(t->id, t->title, name);
	if (ended && !project_file_exists(&file))
		return json_null();
	auto_free char *path = mem_printf(".cloop/artifacts/%s", name);
	return json_string(path);
}

static json_t *describe(const struct store_task *t)
{
	return json_pack("{s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
		(json_int_t)t->id, "title", text_or_null(t->title), "state",
		store_task_state_text(t->state), "note", text_or_null(t->note), "argv",
		argv_or_null(t->argv), "run", text_or_null(t->run), "created_at",
		text_or_null(t->created_at), "started_at", text_or_null(t->started_at),
		"finished_at", text_or_null(t->finished_at), "artifact", artifact_path(t));
}

static void add(void *list, const struct store_task *t)
{
	json_array_append_new(list, describe(t));
}

/* The row as JSON, NULL + err when there is none. */
static json_t *find(const struct tasks *t, int64_t id, struct error *err)
{
	auto_json *list = json_array();

	int r = t->store ? store_task_show(t->store, t->project, id, add, list, err) : 1;
	if (r > 0)
		not_found(t, id, err);
	return r == 0 ? json_incref(json_array_get(list, 0)) : NULL;
}

static void print_list(const json_t *list)
{
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *one;

	table_titles(&t, (const char *[]){"ID", "STATE", "RUN", "TITLE", NULL});
	json_array_foreach(list, i, one)
	{
		auto_free char *id = mem_printf("%lld", (long long)json_get_int(one, "id", 0));
		table_row(&t, (const char *[]){id, json_get_string(one, "state"),
				      json_get_string(one, "run"), json_get_string(one, "title")});
	}
	table_print(&t);
}

static int run_list(struct cli *c, struct error *err)
{
	AUTO(tasks) t = {NULL, NULL};
	auto_json *list = json_array();

	if (open_tasks(c, false, &t, err) < 0 ||
		(t.store && store_task_list(t.store, t.project, add, list, err) < 0))
		return -1;
	if (c->json) {
		cli_print_json(json_pack("{s:o, s:O}", "project",
			json_from_bytes(text_of(t.project)), "tasks", list));
		return CLI_OK;
	}
	print_list(list);
	return CLI_OK;
}

/* What the ledger knows of the last run. */
static void add_run(void *task, const struct store_run *r)
{
	json_object_set_new(task, "outcome", text_or_null(r->outcome));
	json_object_set_new(
		task, "exit_code", r->exit_code < 0 ? json_null() : json_integer(r->exit_code));
}

static void print_member(const char *key, const json_t *value)
{
	if (json_is_null(value))
		return;
	auto_free char *raw =
		json_is_string(value) ? mem_strdup(json_string_value(value)) : json_write(value);
	auto_free char *text = cli_plain(raw);
	printf("%-12s %s\n", key, text);
}

static int run_show(struct cli *c, struct error *err)
{
	AUTO(tasks) t = {NULL, NULL};
	int64_t id = 0;
	const char *key;
	json_t *value;

	if (read_id(c, &id, err) < 0 || open_tasks(c, false, &t, err) < 0)
		return -1;
	auto_json *task = find(&t, id, err);
	if (!task)
		return -1;
	const char *run = json_get_string(task, "run");
	json_object_set_new(task, "outcome", json_null());
	json_object_set_new(task, "exit_code", json_null());
	if (run && store_run_show(t.store, run, add_run, task, err) < 0)
		return -1;
	if (c->json) {
		cli_print_json(json_incref(task));
		return CLI_OK;
	}
	json_object_foreach(task, key, value) print_member(key, value);
	return CLI_OK;
}

/* UTF-8 on one line: it becomes part of a file's name and of YAML. */
static int judge_title(const struct cli *c, const char *title, struct error *err)
{
	struct text t = text_of(title);

	if (text_blank(t) || t.len > TITLE_MAX || text_has_control(t) || !utf8_valid(t))
		return cli_usage(c, err,
			"--title takes 1 to %d bytes of UTF-8 without control characters",
			TITLE_MAX);
	return 0;
}

/* Of a task that was given none: its words, as far as they are shown. */
static char *title_of_words(const struct cli *c)
{
	enum { SHOWN = 72 };
	AUTO(str) words = STR_INIT(ARGV_BYTES_MAX * 4);

	for (size_t i = 0; i < c->n_argv && words.len <= SHOWN; i++) {
		str_add_text(&words, i > 0 ? " " : "");
		text_escape(&words, text_of(c->argv[i]), SHOWN + 1);
	}
	struct text all = {str_text(&words), words.len};
	if (text_blank(all))
		return mem_strdup("task");
	return mem_strndup(all.p, utf8_cut(all, SHOWN));
}

static int judge_words(const struct cli *c, struct error *err)
{
	size_t bytes = 0;

	for (size_t i = 0; i < c->n_argv; i++)
		bytes += strlen(c->argv[i]) + 1;
	if (c->n_argv > ARGV_MAX || bytes > ARGV_BYTES_MAX)
		return cli_usage(c, err, "a task takes at most %d words of %d bytes in all",
			ARGV_MAX, ARGV_BYTES_MAX);
	return 0;
}

static char *words_as_json(const struct cli *c)
{
	auto_json *list = json_array();

	if (c->n_argv == 0)
		return NULL;
	for (size_t i = 0; i < c->n_argv; i++)
		json_array_append_new(list, json_exact(c->argv[i]));
	return json_write(list);
}

/* The task, the project it makes known, and the event: all or nothing. */
static int insert(
	struct tasks *t, const struct store_task_new *task, int64_t *ret_id, struct error *err)
{
	AUTO(query_transaction) transaction = QUERY_TRANSACTION_INIT;
	struct store_event event = {.project = t->project, .kind = "task.add"};

	if (query_begin(t->store, &transaction, err) < 0 ||
		store_project_note(t->store, t->project, err) < 0 ||
		store_task_add(t->store, task, ret_id, err) < 0)
		return -1;
	auto_free char *message = mem_printf("task %lld: %s", (long long)*ret_id, task->title);
	event.task = *ret_id;
	event.message = message;
	return store_journal_add(t->store, &event, err) < 0 ? -1 : query_commit(&transaction, err);
}

static int run_add(struct cli *c, struct error *err)
{
	AUTO(tasks) t = {NULL, NULL};
	const char *given = cli_option(c, "--title");
	int64_t id = 0;

	if (!given && c->n_argv == 0)
		return cli_usage(c, err, "name the command of the task behind --, or its --title");
	if ((given && judge_title(c, given, err) < 0) || judge_words(c, err) < 0 ||
		open_tasks(c, true, &t, err) < 0)
		return -1;
	auto_free char *title = given ? mem_strdup(given) : title_of_words(c);
	auto_free char *argv = words_as_json(c);
	struct store_task_new task = {t.project, title, argv};
	if (insert(&t, &task, &id, err) < 0)
		return -1;
	if (!c->json) {
		printf("%lld\n", (long long)id);
		return CLI_OK;
	}
	json_t *added = find(&t, id, err);
	if (!added)
		return -1;
	cli_print_json(added);
	return CLI_OK;
}

static int reset(struct tasks *t, int64_t id, struct error *err)
{
	AUTO(query_transaction) transaction = QUERY_TRANSACTION_INIT;
	auto_free char *message = mem_printf("task %lld is pending again", (long long)id);
	struct store_event event = {t->project, "task.reset", NULL, id, message, 0};

	if (query_begin(t->store, &transaction, err) < 0)
		return -1;
	int r = store_task_reset(t->store, t->project, id, err);
	if (r != 0)
		return r;
	return store_journal_add(t->store, &event, err) < 0 ? -1 : query_commit(&transaction, err);
}

static int run_reset(struct cli *c, struct error *err)
{
	AUTO(tasks) t = {NULL, NULL};
	int64_t id = 0;

	if (read_id(c, &id, err) < 0 || open_tasks(c, false, &t, err) < 0)
		return -1;
	int r = t.store ? reset(&t, id, err) : 1;
	auto_json *task = r < 0 ? NULL : find(&t, id, err);
	if (!task)
		return -1;
	const char *run = json_get_string(task, "run");
	if (strcmp(json_get_string(task, "state"), "running") == 0) {
		error_set(err, ERROR_TASK_STATE, "task %lld is running%s%s", (long long)id,
			run ? " in run " : "", run ? run : "");
		return run ? error_set_remedy(err, "wait for it, or end it: cloop stop %s", run)
			   : -1;
	}
	if (c->json)
		cli_print_json(json_incref(task));
	else
		printf("task %lld is pending\n", (long long)id);
	return CLI_OK;
}

enum { FLAGS = VERB_JSON | VERB_DIR | VERB_HOME };

static const struct option add_options[] = {
	{"--title", "TEXT", "what it is called; default: its command", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_task_add = {
	.group = "task",
	.name = "add",
	.summary = "add a task to the project",
	.flags = FLAGS | VERB_ARGV,
	.options = add_options,
	.help = "Adds a task: the command behind --, to be run in the project's sandbox by `cloop "
		"run`, or only a title, for which `cloop run --task ID -- ARGV` names the command. "
		"Prints its number.\n"
		"  cloop task add --title \"unit tests\" -- make test",
	.run = run_add,
};

const struct verb cmd_task_list = {
	.group = "task",
	.name = "list",
	.summary = "list the tasks of the project",
	.flags = FLAGS,
	.help = "Oldest first, as `cloop run` takes them. A task is pending, running, done or "
		"failed.",
	.run = run_list,
};

const struct verb cmd_task_show = {
	.group = "task",
	.name = "show",
	.summary = "show a task and how its last run ended",
	.args = "ID",
	.min_args = 1,
	.max_args = 1,
	.flags = FLAGS,
	.help = "The note says why a task is what it is. The artifact is the file in the project "
		"that its last run left.",
	.run = run_show,
};

const struct verb cmd_task_reset = {
	.group = "task",
	.name = "reset",
	.summary = "make a task pending that is done or failed",
	.args = "ID",
	.min_args = 1,
	.max_args = 1,
	.flags = FLAGS,
	.help = "The next `cloop run` runs it again. One that is pending stays so; one that is "
		"running is refused: stop its run first.",
	.run = run_reset,
};
