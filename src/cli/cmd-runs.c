/* The commands about one run: status, logs, wait, stop (cli.md). */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "executor/runlog/log-json.h"
#include "run/follow.h"
#include "run/import.h"
#include "run/request.h"
#include "sys/file.h"

/* The run named by the first argument. */
struct named {
	struct home home;
	struct rundir run;
};

static void named_done(struct named *n)
{
	rundir_done(&n->run);
	home_done(&n->home);
}

static int open_named(struct cli *c, struct named *ret, struct error *err)
{
	*ret = (struct named){.home = HOME_INIT, .run = RUNDIR_INIT};
	if (cli_home_open_due(c, &ret->home, err) < 0)
		return -1;
	stage_sweep(&ret->home);
	return rundir_find(&ret->home, cli_arg(c, 0), &ret->run, err);
}

static void print_line(const json_t *record, const char *key, const char *title)
{
	const json_t *value = json_object_get(record, key);

	if (!value || json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0))
		return;
	auto_free char *text = cli_shown(value);
	printf("%-12s %s\n", title, text);
}

static int run_status(struct cli *c, struct error *err)
{
	static const char *const keys[][2] = {
		{"handle", "handle"},
		{"title", "title"},
		{"state", "state"},
		{"reason", "reason"},
		{"outcome", "outcome"},
		{"exit_code", "exit code"},
		{"signal", "signal"},
		{"error", "error"},
		{"remediation", "fix"},
		{"project", "project"},
		{"executor_id", "executor"},
		{"image", "image"},
		{"image_digest", "digest"},
		{"sandbox_sha256", "sandbox"},
		{"limits", "limits"},
		{"usage", "usage"},
		{"log", "log"},
		{"started_at", "started"},
		{"finished_at", "finished"},
		{"warnings", "warnings"},
	};
	AUTO(named) n;

	if (open_named(c, &n, err) < 0 || follow_adopt(&n.home, &n.run, NULL, err) < 0)
		return -1;
	import_run(&n.home, &n.run);
	auto_json *record = rundir_read(&n.run, RECORD_FILE, err);
	if (!record)
		return -1;
	if (c->json) {
		cli_print_json(record_public(record));
		return CLI_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		print_line(record, keys[i][0], keys[i][1]);
	return CLI_OK;
}

struct printing {
	bool json;
	const char *handle;
	struct error *err; /* why nothing more is printed */
};

static bool print_frame(void *data, const struct log_frame *frame)
{
	const struct printing *p = data;

	if (p->json) {
		auto_json *object = log_json_frame(p->handle, frame);
		auto_free char *text = json_write(object);
		printf("%s\n", text);
		return fflush(stdout) == 0;
	}
	if (frame->stream == LOG_END)
		return true;
	if (frame->stream == LOG_GAP)
		return file_write_all(2, "[cloop] output is missing here\n", 31, p->err) == 0;
	int fd = frame->stream == LOG_STDERR || frame->stream == LOG_NOTE ? 2 : 1;
	if (file_write_all(fd, frame->data.p, frame->data.len, p->err) < 0)
		return false;
	return frame->stream != LOG_NOTE || file_write_all(2, "\n", 1, p->err) == 0;
}

static int run_logs(struct cli *c, struct error *err)
{
	AUTO(named) n;
	uint64_t since = 0;

	if (cli_option_number(c, "--since-seq", UINT64_MAX, 0, &since, err) < 0 ||
		open_named(c, &n, err) < 0 || follow_adopt(&n.home, &n.run, NULL, err) < 0)
		return -1;
	struct printing p = {.json = c->json, .handle = n.run.handle, .err = err};
	struct follow f = {
		.home = &n.home,
		.run = &n.run,
		.since_seq = since,
		.until_end = cli_flag(c, "--follow"),
		.supervisor = -1,
		.signals = -1,
		.on_frame = print_frame,
		.data = &p,
	};
	if (follow_run(&f, err) < 0 || !error_is(err, ERROR_NONE))
		return -1;
	import_run(&n.home, &n.run);
	return CLI_OK;
}

static bool ignore_frame(void *data, const struct log_frame *frame)
{
	(void)data;
	(void)frame;
	return true;
}

static int run_wait(struct cli *c, struct error *err)
{
	AUTO(named) n;

	if (open_named(c, &n, err) < 0 || follow_adopt(&n.home, &n.run, NULL, err) < 0)
		return -1;
	struct follow f = {
		.home = &n.home,
		.run = &n.run,
		.until_end = true,
		.supervisor = -1,
		.signals = -1,
		.on_frame = ignore_frame,
	};
	if (follow_run(&f, err) < 0)
		return -1;
	import_run(&n.home, &n.run);
	auto_json *record = rundir_read(&n.run, RECORD_FILE, err);
	if (!record)
		return -1;
	if (c->json)
		cli_print_json(record_public(record));
	return record_cli_exit(record);
}

static int run_stop(struct cli *c, struct error *err)
{
	AUTO(named) n;
	uint64_t grace = 0;
	const char *signal = cli_option(c, "--signal");

	if (cli_option_duration_ms(c, "--grace", 0, &grace, err) < 0 || open_named(c, &n, err) < 0)
		return -1;
	int64_t grace_ms = cli_option(c, "--grace") ? (int64_t)grace : -1;
	int r = signal ? request_signal(&n.home, &n.run, signal, err)
		       : request_stop(&n.home, &n.run, grace_ms, err);
	if (r < 0)
		return -1;
	import_run(&n.home, &n.run);
	auto_json *record = rundir_read(&n.run, RECORD_FILE, err);
	if (!record)
		return -1;
	if (c->json)
		cli_print_json(record_public(record));
	return CLI_OK;
}

const struct verb cmd_status = {
	.name = "status",
	.summary = "show the record of a run",
	.args = "RUN",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME,
	.help = "RUN is a handle or a unique prefix of one.",
	.run = run_status,
};

static const struct option logs_options[] = {
	{"--follow", NULL, "go on until the run ends", NULL, false},
	{"--since-seq", "N", "only frames with a number above N", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_logs = {
	.name = "logs",
	.summary = "print the output of a run",
	.args = "RUN",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME,
	.options = logs_options,
	.help = "Prints what the run wrote, stdout and stderr kept apart. With --json one object a "
		"frame; "
		"its `seq` is what --since-seq takes, so reading can go on where it stopped.",
	.run = run_logs,
};

const struct verb cmd_wait = {
	.name = "wait",
	.summary = "wait for the end of a run",
	.args = "RUN",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_RUN_EXIT,
	.help = "Exits as `cloop run` would have done.",
	.exits = "that of `cloop run` for the same run",
	.run = run_wait,
};

static const struct option stop_options[] = {
	{"--signal", "SIGNAL", "only deliver this signal", "interrupt terminate kill", false},
	{"--grace", "DURATION", "time between terminate and kill", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_stop = {
	.name = "stop",
	.summary = "end a run",
	.args = "RUN",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME,
	.options = stop_options,
	.help = "Asks the workload to end (SIGTERM), kills it when the grace is over, and returns "
		"when it "
		"has ended. A run that has ended is no error.",
	.run = run_stop,
};
