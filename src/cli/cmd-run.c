/* cloop run: the main job (cli.md). */
#include <stdio.h>

#include "base/mem.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/project-path.h"
#include "cli/record-file.h"
#include "cli/run-session.h"
#include "cli/signals.h"
#include "executor/rundir/home.h"
#include "run/claimed-task.h"
#include "run/look.h"
#include "run/project-file.h"
#include "store/task.h"

enum { SIGNALLED = 128, NO_MORE = -2 };

/* Tasks of one project, one after the other. */
struct series {
	struct cli *cli;
	struct home home;
	char *project;
	int64_t id; /* the one wanted; 0 = all that are pending */
	struct run_session_job job;
	size_t begun;
};

static void series_done(struct series *s)
{
	home_done(&s->home);
	free(s->project);
}

static void announce(const struct series *s, const struct claimed_task *t)
{
	if (s->cli->json || s->id != 0)
		return;
	auto_free char *title = cli_plain(t->title);
	fprintf(stderr, "cloop: task %lld: %s\n", (long long)t->attempt.id, title);
}

/* Words on the command line take the place of the task's own. */
static int choose_words(struct series *s, const struct claimed_task *t, struct error *err)
{
	const struct cli *c = s->cli;
	bool given = c->n_argv > 0;

	s->job.argv = given ? c->argv : t->argv.v;
	s->job.n_argv = given ? c->n_argv : t->argv.n;
	if (s->job.n_argv > 0)
		return 0;
	error_set(err, ERROR_TASK_STATE, "task %lld has no command", (long long)t->attempt.id);
	return error_set_remedy(
		err, "name it: cloop run --task %lld -- ARGV", (long long)t->attempt.id);
}

static int run_task(struct series *s, const struct claimed_task *t, struct error *err)
{
	if (choose_words(s, t, err) < 0 || project_file_make_folder(s->project, err) < 0)
		return run_session_refused(s->cli, &s->job, err);
	return run_session(s->cli, &s->job, err);
}

/* Exit status, NO_MORE, or -1. */
static int run_next(struct series *s, struct error *err)
{
	AUTO(claimed_task) t = CLAIMED_TASK_INIT;

	int r = claimed_task_take(&s->home, s->project, s->id, &t, err);
	if (r != 0)
		return r < 0 ? run_session_refused(s->cli, &s->job, err) : NO_MORE;
	s->begun++;
	announce(s, &t);
	s->job.title = t.title;
	s->job.task = &t.attempt;
	s->job.handle[0] = '\0';
	int status = run_task(s, &t, err);
	/* A run that is there says itself how it ended. */
	if (status < 0 && !s->job.handle[0])
		claimed_task_give_back(&s->home, &t, err->message);
	s->job.title = NULL;
	s->job.task = NULL;
	return status;
}

static int open_series(struct series *s, struct error *err)
{
	const char *id = cli_option(s->cli, "--task");
	uint64_t number = 0;

	if (id && (num_parse(text_of(id), INT64_MAX, &number) != NUM_OK || number == 0))
		return cli_usage(s->cli, err, "--task takes the number of a task, not %s",
			quoted_string(id));
	s->id = (int64_t)number;
	s->project = project_path(s->cli, err);
	if (!s->project || cli_home_open(s->cli, &s->home, err) < 0)
		return -1;
	look_at_tasks(&s->home);
	return 0;
}

static void count(void *counts, const struct store_task *t)
{
	((size_t *)counts)[t->state]++;
}

/* Nothing was pending. Who never made a task forgot the command. */
static int explain_none(struct series *s, struct error *err)
{
	AUTO_PTR(store) store = NULL;
	size_t n[STORE_TASK_STATE_COUNT] = {0};

	int r = project_path_store(s->cli, false, &store, err);
	if (r < 0 || (r == 0 && store_task_list(store, s->project, count, n, err) < 0))
		return -1;
	if (n[STORE_TASK_RUNNING] + n[STORE_TASK_DONE] + n[STORE_TASK_FAILED] == 0)
		return cli_usage(
			s->cli, err, "name the command to run behind --; the project has no tasks");
	if (!s->cli->json)
		fprintf(stderr, "cloop: no task is pending (%zu running, %zu done, %zu failed)\n",
			n[STORE_TASK_RUNNING], n[STORE_TASK_DONE], n[STORE_TASK_FAILED]);
	return CLI_OK;
}

static int run_all(struct series *s, struct error *err)
{
	int status;

	do {
		status = run_next(s, err);
		if (status == CLI_OK && s->job.signal != 0)
			status = SIGNALLED + s->job.signal;
	} while (status == CLI_OK && !cli_flag(s->cli, "--detach"));
	if (status != NO_MORE)
		return status;
	return s->begun > 0 ? CLI_OK : explain_none(s, err);
}

/* The records so far belong to the answer, whatever became of the last. */
static int answer_all(struct series *s, int status, struct error *err)
{
	json_t *answer = status < 0 ? error_to_json(err) : json_object();

	json_object_set(answer, "runs", s->job.records);
	cli_print_json(answer);
	return status < 0 ? cli_error_exit(s->cli, err) : status;
}

static int run_tasks(struct cli *c, const struct run_session_job *job, struct error *err)
{
	AUTO(series) s = {.cli = c, .home = HOME_INIT, .job = *job};
	auto_json *records = json_array();

	if (open_series(&s, err) < 0)
		return run_session_refused(c, &s.job, err);
	if (s.id != 0)
		return run_next(&s, err);
	bool list = c->json && !cli_flag(c, "--detach");
	s.job.records = list ? records : NULL;
	int status = run_all(&s, err);
	return list && !(status < 0 && error_is(err, ERROR_USAGE)) ? answer_all(&s, status, err)
								   : status;
}

static int run_command(struct cli *c, struct run_session_job *job, struct error *err)
{
	job->argv = c->argv;
	job->n_argv = c->n_argv;
	job->title = cli_option(c, "--title");
	return run_session(c, job, err);
}

static int run(struct cli *c, struct error *err)
{
	AUTO(record_file) file = RECORD_FILE_INIT;
	const char *path = cli_option(c, "--record");
	bool tasks = cli_option(c, "--task") || !c->argv;

	if (c->argv && c->n_argv == 0)
		return cli_usage(c, err, "name the command to run behind --");
	if (tasks && cli_option(c, "--title"))
		return cli_usage(c, err, "--title names a run of a command behind --, not a task");
	auto_fd int signals = signals_catch(err);
	if (signals < 0 || (path && record_file_open(path, &file, err) < 0))
		return -1;
	struct run_session_job job = {.signals = signals, .record_file = path ? &file : NULL};
	return tasks ? run_tasks(c, &job, err) : run_command(c, &job, err);
}

static const struct option options[] = {
	{"--executor", "ID", "this executor, whatever the project is bound to", NULL, false},
	{"--task", "ID", "run this pending task", NULL, false},
	{"--title", "TEXT", "a name for the run, for people", NULL, false},
	{"--timeout", "DURATION", "end the run after this time (90, 500ms, 10m, 2h; 0: no limit)",
		NULL, false},
	{"--detach", NULL, "return when the workload runs and print its handle", NULL, false},
	{"--record", "FILE", "write the record of the run there, whatever happened", NULL, false},
	{"--env", "NAME", "forward this variable, if the project's file allows it", NULL, true},
	{"--label", "KEY=VALUE", "a label of the container", NULL, true},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_run = {
	.name = "run",
	.summary = "run a command, or tasks, in the project's sandbox",
	.flags = VERB_PROJECT | VERB_ARGV | VERB_RUN_EXIT,
	.options = options,
	.help = "Runs the words behind -- in a sandbox that .cloop/sandbox.yaml of the project "
		"describes "
		"and the operator's configuration bounds. Output is passed on while it is made, "
		"stdout "
		"and stderr kept apart; its stdin is empty (cloop attach --write has one).\n"
		"The exit status is the workload's own; 124 it ran out of time, 125 it was refused "
		"or could "
		"not start, 126 and 127 the command could not be executed or was not found, 122 it "
		"was "
		"stopped at its disk limit, 123 a credential was revoked, 128+n it ended by signal "
		"n.\n"
		"What the run is warned of is in its record; if stderr is a terminal it is told "
		"there, "
		"too, as cloop: warning: MESSAGE (CODE).\n"
		"A file with setup has an image built for it first, which later runs use again: "
		"what the build prints goes to stderr.\n"
		"An interrupt is passed to the workload; a second one asks it to end, a third one "
		"kills it. Any other signal that would end a program asks the workload to end. "
		"With --json the record of the run is the only answer; the output stays in its "
		"log. Values "
		"given by --env are masked in the output.\n"
		"Without a command the project's pending tasks are run, the oldest first, each in "
		"a "
		"sandbox of its own, until one does not end well: its exit status is that of the "
		"command, and the others stay pending. --task runs one of them; a command behind "
		"-- takes the place of its own. With --json the answer is {\"runs\": [RECORD…]}; "
		"--record gets each record, --detach starts one task only.\n"
		"Example:\n"
		"  cloop run --timeout 10m -- make test",
	.exits = "the command's own; 122 stopped at its disk limit, 123 revoked, 124 timed out, "
		 "125 refused or could not start, 126 or 127 the command could not be executed or "
		 "was not found, 128+n ended by signal n; 2 wrong usage",
	.run = run,
};
