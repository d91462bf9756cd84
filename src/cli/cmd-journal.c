/* cloop journal (cli.md). */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/project-path.h"
#include "executor/rundir/home.h"
#include "run/look.h"
#include "store/journal.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 1000000 };

static void add(void *list, const struct store_journal_row *r)
{
	json_array_append_new(
		list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "seq", (json_int_t)r->seq, "time",
			      json_from_bytes(r->time), "kind", json_from_bytes(r->kind), "run",
			      r->run.p ? json_from_bytes(r->run) : json_null(), "task",
			      r->task ? json_integer(r->task) : json_null(), "message",
			      json_from_bytes(r->message)));
}

static void print(const json_t *row)
{
	const char *run = json_get_string(row, "run");
	auto_free char *message = cli_plain(json_get_string(row, "message"));

	printf("%s %-18s %-14s %s\n", json_get_string(row, "time"), json_get_string(row, "kind"),
		run ? run : "-", message);
}

/* Ends that nobody waited for belong into it. */
static int look(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;

	if (cli_home_open(c, &home, err) < 0)
		return -1;
	look_at_runs(&home);
	cli_revoke_due(c, &home);
	return 0;
}

static int run(struct cli *c, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	auto_json *list = json_array();
	uint64_t limit;
	size_t i;
	json_t *row;

	if (cli_option_number(c, "--limit", LIST_MAX, LIST_DEFAULT, &limit, err) < 0)
		return -1;
	auto_free char *path = project_path_gone(c, err);
	if (!path || look(c, err) < 0)
		return -1;
	int r = project_path_store(c, false, &store, err);
	if (r == 0)
		r = store_journal_list(store, path, (int64_t)limit, add, list, err);
	if (r < 0)
		return -1;
	if (c->json) {
		cli_print_json(json_pack(
			"{s:o, s:O}", "project", json_from_bytes(text_of(path)), "rows", list));
		return CLI_OK;
	}
	json_array_foreach(list, i, row) print(row);
	return CLI_OK;
}

static const struct option options[] = {
	{"--limit", "N", "only the last N rows (default 100; 0: all)", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_journal = {
	.name = "journal",
	.summary = "show what happened in a project",
	.flags = VERB_JSON | VERB_DIR | VERB_HOME,
	.options = options,
	.help = "Shows the events of the project of the current directory, or of -C, oldest first: "
		"requests that a ceiling lowered, refused runs, runs that were stopped or lost, "
		"tasks that began and ended. The last 10000 rows of a project are kept.",
	.run = run,
};
