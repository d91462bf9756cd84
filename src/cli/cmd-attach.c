/* cloop attach: a program beside the workload of a run (cli.md, container-driver.md §18). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/actor.h"
#include "cli/attach-relay.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/signals.h"
#include "executor/container/driver/attach.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "run/audit-attach.h"
#include "run/follow.h"

enum { SIGNAL_STATUS = 128 };

struct attach {
	struct home home;
	struct rundir run;
	struct audit_attach audit;
	json_t *record;
	int signals;
	bool audited;
};

static void attach_done(struct attach *a)
{
	json_decref(a->record);
	rundir_done(&a->run);
	home_done(&a->home);
	if (a->signals >= 0)
		close(a->signals);
}

static int on_ready(void *data, int64_t session, struct error *err)
{
	struct attach *a = data;

	a->audit.session = session;
	a->audited = audit_attach_open(&a->audit, err) == 0;
	return a->audited ? 0 : -1;
}

static int find_run(struct cli *c, struct attach *a, struct error *err)
{
	if (cli_home_open_due(c, &a->home, err) < 0)
		return -1;
	stage_sweep(&a->home);
	if (rundir_find(&a->home, cli_arg(c, 0), &a->run, err) < 0 ||
		follow_adopt(&a->home, &a->run, NULL, err) < 0)
		return -1;
	a->record = rundir_read(&a->run, RECORD_FILE, err);
	return a->record ? 0 : -1;
}

static void tell_end(const struct attach_relay *r)
{
	if (strcmp(r->reason, "idle") == 0)
		fputs("cloop: the session was closed: nothing was typed for 30 minutes\n", stderr);
	if (strcmp(r->reason, "run_ended") == 0)
		fputs("cloop: the run has ended, and the session with it\n", stderr);
	if (r->left > 0)
		fprintf(stderr, "cloop: %lld processes of the session could not be ended\n",
			(long long)r->left);
}

/* The session said why there is none. */
static int failed(struct cli *c, struct attach_relay *r, struct error *err)
{
	int status = error_code_run_exit(r->failure.code);
	bool of_command = error_is(&r->failure, ERROR_COMMAND_NOT_FOUND) ||
			  error_is(&r->failure, ERROR_COMMAND_NOT_EXECUTABLE) ||
			  error_is(&r->failure, ERROR_EXEC_FAILED);

	error_move(err, &r->failure);
	if (!of_command)
		return -1;
	cli_print_error(c, err);
	return status;
}

static int conclude(struct cli *c, struct attach *a, struct attach_relay *r, struct error *err)
{
	a->audit.exit_code = r->exited ? r->exit_code : -1;
	a->audit.left = r->left;
	a->audit.reason = r->reason[0] ? r->reason : "lost";
	if (a->audited)
		audit_attach_close(&a->audit);
	a->audit.reason = NULL;
	tell_end(r);
	if (r->signal)
		return SIGNAL_STATUS + r->signal;
	if (r->failure.code != ERROR_NONE)
		return failed(c, r, err);
	if (r->exited)
		return r->exit_code;
	error_set(err, ERROR_ATTACH_CLOSED,
		"the supervisor of run %s went away: the session is over, the run is not",
		a->run.handle);
	return error_set_remedy(err,
		"attach again: the run gets a new supervisor (one that lives ends a session whose "
		"output is not read for 60 s)");
}

static int run_session(
	struct cli *c, struct attach *a, const struct attach_wish *wish, struct error *err)
{
	struct attach_relay r;
	int fd;

	if (audit_attach_check(&a->audit, err) < 0 ||
		attach_open(&a->home, &a->run, wish, &fd, err) < 0)
		return -1;
	attach_relay_init(&r, fd, wish->tty, wish->write);
	r.on_ready = on_ready;
	r.data = a;
	a->signals = r.signals = signals_catch(err);
	int status = -1;
	if (a->signals >= 0) {
		attach_relay_run(&r);
		status = conclude(c, a, &r, err);
	}
	attach_relay_done(&r);
	return status;
}

static int run_attach(struct cli *c, struct error *err)
{
	AUTO(attach) a = {.home = HOME_INIT, .run = RUNDIR_INIT, .signals = -1};
	struct attach_wish wish = {
		.argv = c->argv, .tty = isatty(0) && isatty(1), .write = cli_flag(c, "--write")};
	auto_free char *actor = actor_name();

	if (find_run(c, &a, err) < 0)
		return -1;
	if (wish.tty)
		terminal_size(1, &wish.rows, &wish.cols);
	a.audit = (struct audit_attach){.home = &a.home,
		.actor = actor,
		.handle = a.run.handle,
		.record = a.record,
		.command = c->argv && c->argv[0] ? c->argv[0] : ATTACH_SHELL,
		.write = wish.write,
		.tty = wish.tty};
	return run_session(c, &a, &wish, err);
}

static const struct option attach_options[] = {
	{"--write", NULL, "pass input on; without it the session only shows", NULL, false},
	{NULL, NULL, NULL, NULL, false},
};

const struct verb cmd_attach = {
	.name = "attach",
	.summary = "run a program beside the workload of a run",
	.args = "RUN",
	.min_args = 1,
	.max_args = 1,
	.flags = VERB_JSON | VERB_HOME | VERB_ARGV,
	.options = attach_options,
	.help = "Starts ARGV (default: /bin/sh) inside the sandbox of a run that is "
		"running, in /workspace, with the workload's environment, confinement and "
		"limits. On a terminal when stdin and stdout are one, else on pipes, "
		"stdout and stderr kept apart. At most four sessions a run.\n"
		"Without --write nothing that is typed or piped in gets there; ^C leaves. "
		"With --write every key goes to the program, ^C too; it is left by ending "
		"the program (exit, ^D). Leaving ends everything that the session "
		"started, and never the run: `cloop stop` does that.\n"
		"Exits as the program does, 128 + n when a signal ended it; 127 or 126 if "
		"it was not found or cannot be executed. A session without input for 30 "
		"minutes is closed. Its output is masked like the run's and is not in the "
		"run's log; who attached is in the audit trail.\n"
		"With --json a session that could not be had is told as one JSON object; "
		"what the program prints is passed on as it is.",
	.exits = "the program's own, 128+n when a signal ended it; 127 or 126 it was not found or "
		 "cannot be executed; 1 there was no session; 2 wrong usage",
	.run = run_attach,
};
