/* cloop ps (cli.md). */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "executor/rundir/record.h"
#include "run/look.h"
#include "sys/log.h"

enum { RUNS_MAX = 100000 };

static void print_row(struct table *t, const json_t *record)
{
	const json_t *code = json_object_get(record, "exit_code");
	char exit_code[16] = "-";

	if (json_is_integer(code))
		snprintf(exit_code, sizeof(exit_code), "%d", (int)json_integer_value(code));
	table_row(t,
		(const char *[]){json_get_string(record, "handle"), record_state(record),
			json_get_string(record, "outcome"), exit_code,
			json_get_string(record, "started_at"), json_get_string(record, "project")});
}

/*
 * NULL: the run is gone, or begins or ends (no record, or an empty one); or its record is damaged,
 * which is said.
 */
static json_t *read_record(const struct home *home, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	if (rundir_open(home, handle, &run, &err) < 0)
		return NULL;
	json_t *record = rundir_read(&run, RECORD_FILE, &err);
	if (!record && !rundir_lacks(&run, RECORD_FILE))
		log_warning("not listed: %s; fix: %s", err.message, error_remedy(&err));
	return record;
}

static int run(struct cli *c, struct error *err)
{
	AUTO(home) home = HOME_INIT;
	AUTO(strv) handles = STRV_INIT(RUNS_MAX);
	auto_json *list = json_array();
	AUTO(table) t = TABLE_INIT;
	size_t i;
	json_t *record;

	if (cli_home_open(c, &home, err) < 0)
		return -1;
	look_at_runs(&home);
	cli_revoke_due(c, &home);
	if (rundir_list(&home, &handles, err) < 0)
		return -1;
	strv_foreach (handle, &handles) {
		auto_json *full = read_record(&home, *handle);
		if (full && (cli_flag(c, "--all") || !record_final(full)))
			json_array_append_new(list, record_public(full));
	}
	if (c->json) {
		cli_print_json(json_pack("{s:O}", "runs", list));
		return CLI_OK;
	}
	table_titles(&t,
		(const char *[]){"HANDLE", "STATE", "OUTCOME", "EXIT", "STARTED", "PROJECT", NULL});
	json_array_foreach(list, i, record) print_row(&t, record);
	table_print(&t);
	return CLI_OK;
}

static const struct option options[] = {
	{"--all", NULL, "finished runs too", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_ps = {
	.name = "ps",
	.summary = "list the runs of this home",
	.flags = VERB_JSON | VERB_HOME,
	.options = options,
	.help = "Lists runs, newest first: those that are not finished, or all of them. A run "
		"whose "
		"supervisor died gets a new one.",
	.run = run,
};
