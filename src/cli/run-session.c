#include "cli/run-session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/pass-on.h"
#include "cli/record-file.h"
#include "cli/unblocked.h"
#include "executor/container/request.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-wipe.h"
#include "run/audit.h"
#include "run/denial.h"
#include "run/dispatch.h"
#include "run/follow.h"
#include "run/import.h"
#include "run/ledger.h"
#include "run/request.h"
#include "sys/env.h"
#include "sys/file.h"

enum { LABELS_MAX = 64, ENV_MAX = 512, NOT_STARTED = 125 };

/* One foreground run. */
struct session {
	struct cli *cli;
	struct run_session_job *job;
	struct context context;
	struct rundir run;
	json_t *refused; /* the record of a run that was refused early, as far as it came */
	bool recorded;   /* --record was done, or failed and said so */
	unsigned interrupts;
	size_t warned;             /* warnings of the record that were shown */
	bool quiet;                /* --json: the record is the answer, output stays in the log */
	struct unblocked progress; /* of a build */
	struct pass_on out;
	struct follow follow;
};

static void session_done(struct session *s)
{
	unblocked_done(&s->progress);
	pass_on_done(&s->out);
	rundir_done(&s->run);
	context_done(&s->context);
	json_decref(s->refused);
}

/*
 * Interrupt goes to the workload, as a terminal would send it; a second one asks for the end, a
 * third insists. Every other one asks for the end at once.
 */
static void on_signal(void *data)
{
	struct session *s = data;
	auto_error struct error err = ERROR_INIT;
	struct signalfd_siginfo info;

	if (read(s->job->signals, &info, sizeof(info)) != sizeof(info))
		return;
	s->job->signal = (int)info.ssi_signo;
	const char *word = "terminate";
	if (info.ssi_signo == SIGINT && s->interrupts++ == 0)
		word = "interrupt";
	else if (s->interrupts > 2)
		word = "kill";
	if (request_signal(&s->context.home, &s->run, word, &err) < 0)
		cli_print_error(s->cli, &err);
}

static void tell_gap(struct session *s, const struct log_frame *frame)
{
	uint64_t lost = log_gap_lost(frame);
	auto_free char *text =
		lost == LOG_LOST_UNKNOWN
			? mem_strdup("[cloop] some output is missing here\n")
			: mem_printf("[cloop] %llu bytes of output are missing here\n",
				  (unsigned long long)lost);

	pass_on_write(&s->out, 2, text_of(text));
}

static bool on_frame(void *data, const struct log_frame *frame)
{
	struct session *s = data;

	if (s->quiet)
		return true;
	s->out.reader = s->follow.reader;
	if (frame->stream == LOG_STDOUT || frame->stream == LOG_COMBINED)
		pass_on_frame(&s->out, 1, frame->data);
	else if (frame->stream == LOG_STDERR)
		pass_on_frame(&s->out, 2, frame->data);
	else if (frame->stream == LOG_GAP)
		tell_gap(s, frame);
	else if (frame->stream == LOG_NOTE) {
		pass_on_write(&s->out, 2, frame->data);
		pass_on_write(&s->out, 2, TEXT("\n"));
	}
	return true;
}

static int read_labels(
	const struct cli *c, struct request_label *labels, size_t *n, struct error *err)
{
	size_t at = 0;

	for (const char *text; (text = cli_option_next(c, "--label", &at));) {
		const char *eq = strchr(text, '=');
		if (!eq)
			return cli_usage(
				c, err, "--label takes KEY=VALUE, not %s", quoted_string(text));
		if (*n == LABELS_MAX)
			return error_set(
				err, ERROR_LABELS_TOO_MANY, "more than %d labels", LABELS_MAX);
		labels[(*n)++] =
			(struct request_label){{text, (size_t)(eq - text)}, text_of(eq + 1)};
	}
	return 0;
}

/* --env NAME: the value is taken from our own environment and never stands on a command line. */
static int read_env(const struct cli *c, struct strv *env, struct error *err)
{
	size_t at = 0;

	for (const char *name; (name = cli_option_next(c, "--env", &at));) {
		if (strchr(name, '='))
			return cli_usage(c, err,
				"--env takes a NAME; its value comes from the environment of "
				"cloop");
		const char *value = env_value(name);
		if (!value)
			return cli_usage(
				c, err, "--env: the variable %s is not set", quoted_string(name));
		if (strv_addf(env, "%s=%s", name, value) < 0)
			return error_set(
				err, ERROR_ENV_TOO_MANY, "more than %d variables", ENV_MAX);
	}
	return 0;
}

static void fill_input(const struct cli *c, struct dispatch *d, const struct strv *env)
{
	d->input.project = c->dir;
	d->input.executor_id = cli_option(c, "--executor");
	d->input.env = env;
}

/* --record: the record whatever happened; a run that never had a directory gets a short one. */
static int write_record(
	struct session *s, json_t *record, const struct error *failure, struct error *err)
{
	auto_json *shown = record ? record_public(record) : NULL;

	if (s->recorded || !s->job->record_file)
		return 0;
	s->recorded = true;
	if (!shown) {
		auto_free char *project = file_resolve(s->cli->dir);
		struct record_facts facts = {
			.project = project ? project : s->cli->dir,
			.executor_id = cli_option(s->cli, "--executor"),
			.task_id = s->job->task ? s->job->task->id : 0,
			.title = s->job->title,
		};
		auto_json *fresh = s->refused ? json_incref(s->refused) : record_new(&facts);
		record_set_state(fresh, "failed");
		json_object_set_new(fresh, "outcome", json_string("start_failed"));
		record_set_error(fresh, failure);
		shown = record_public(fresh);
	}
	auto_free char *text = json_write_pretty(shown);
	auto_free char *line = mem_printf("%s\n", text);
	return record_file_write(s->job->record_file, text_of(line), err);
}

static json_t *read_record(struct session *s)
{
	auto_error struct error err = ERROR_INIT;

	return s->run.fd >= 0 ? rundir_read(&s->run, RECORD_FILE, &err) : NULL;
}

static void tell_warning(const json_t *w)
{
	const char *message = json_get_string(w, "message"), *code = json_get_string(w, "code");
	auto_free char *shown = cli_plain(message ? message : "");
	bool color = cli_color(STDERR_FILENO);

	/* It says of a run under gVisor only that it was a short one. */
	if (!code || strcmp(code, "limits_unread") == 0)
		return;
	fprintf(stderr, "%scloop: warning:%s %s (%s)\n", color ? "\033[1;33m" : "",
		color ? "\033[0m" : "", shown, code);
}

/* Whoever reads stderr from a pipe or a file gets what the workload wrote, and nothing else. */
static bool tells(const struct session *s)
{
	return !s->quiet && isatty(STDERR_FILENO);
}

/* What the record is warned of since the last time. */
static void tell_warnings(struct session *s, const json_t *record)
{
	const json_t *list = json_object_get(record, "warnings");

	for (; tells(s) && s->warned < json_array_size(list); s->warned++)
		tell_warning(json_array_get(list, s->warned));
}

/* A run that ended without having started says why; its status is that of the error. */
static int end_of_run(struct session *s, json_t *record, struct error *err)
{
	tell_warnings(s, record);
	if (write_record(s, record, NULL, err) < 0)
		return -1;
	if (s->job->records)
		json_array_append_new(s->job->records, record_public(record));
	else if (s->cli->json)
		cli_print_json(record_public(record));
	else if (json_is_string(json_object_get(record, "error"))) {
		auto_json *envelope = json_pack("{s:O, s:O, s:O}", "error",
			json_object_get(record, "error"), "code", json_object_get(record, "code"),
			"remediation", json_object_get(record, "remediation"));
		auto_error struct error failure = ERROR_INIT;
		error_from_json(&failure, envelope);
		cli_print_error(s->cli, &failure);
	}
	return record_cli_exit(record);
}

static int detached(struct session *s, struct error *err)
{
	auto_json *record = read_record(s);

	if (write_record(s, record, NULL, err) < 0)
		return -1;
	/* Who only starts runs and never looks at one still takes their ends over. */
	import_all(&s->context.home);
	if (!s->cli->json) {
		printf("%s\n", s->run.handle);
		return CLI_OK;
	}
	cli_print_json(json_pack("{s:s, s:O, s:O, s:O, s:O}", "handle", s->run.handle,
		"executor_id", json_object_get(record, "executor_id"), "state",
		json_object_get(record, "state"), "started_at",
		json_object_get(record, "started_at"), "image", json_object_get(record, "image")));
	return CLI_OK;
}

static int foreground(struct session *s, int supervisor, struct error *err)
{
	s->follow = (struct follow){
		.home = &s->context.home,
		.run = &s->run,
		.until_end = true,
		.supervisor = supervisor,
		.signals = s->job->signals,
		.on_frame = on_frame,
		.on_signal = on_signal,
		.data = s,
	};

	/* The second look takes what a supervisor left that died after the end. */
	if (follow_run(&s->follow, err) < 0)
		return -1;
	stage_sweep(&s->context.home);
	if (follow_adopt(&s->context.home, &s->run, NULL, err) < 0)
		return -1;
	import_run(&s->context.home, &s->run);
	auto_json *record = rundir_read(&s->run, RECORD_FILE, err);
	return record ? end_of_run(s, record, err) : -1;
}

/*
 * Progress of a build, on our stderr. A reader that stops must not stop the build's clock; the log
 * of the build has everything.
 */
static void show_build(void *data, struct text piece)
{
	struct session *s = data;

	unblocked_write(&s->progress, piece);
}

static void show_space(void *data, const char *handle, const char *text, bool waits)
{
	struct session *s = data;

	if (!s->quiet)
		fprintf(stderr, "cloop: %s: run %s %s\n", text, handle,
			waits ? "waits until there is room (looked at each minute); free space "
				"there, or lower orchestrator.min_free_disk_mb; cloop stop ends "
				"the wait"
			      : "starts");
}

static int start(struct session *s, struct dispatch *d, struct error *err)
{
	struct cli *c = s->cli;
	struct dispatched run;

	if (!cli_home(c, err) || !(d->config = cli_config(c, err)))
		return -1;
	if (cli_context_open(c, &s->context, err) < 0) {
		denial_complete(c->dir, err);
		audit_refusal(c->home, c->dir, d->input.executor_id, err);
		ledger_refused_early(c->home, c->dir, err);
		return -1;
	}
	int r = dispatch_run(&s->context, d, &run, err);
	memcpy(s->job->handle, run.handle, HANDLE_SIZE);
	s->refused = run.refused;
	if (run.handle[0]) {
		auto_error struct error ignored = ERROR_INIT;
		(void)!rundir_open(&s->context.home, run.handle, &s->run, &ignored);
	}
	if (r < 0 && s->run.fd >= 0)
		import_run(&s->context.home, &s->run);
	if (r < 0)
		return -1;
	auto_json *begun = tells(s) ? read_record(s) : NULL;
	tell_warnings(s, begun);
	if (!cli_flag(c, "--detach"))
		return foreground(s, run.supervisor, err);
	if (run.supervisor >= 0)
		close(run.supervisor);
	return detached(s, err);
}

static int dispatch(struct session *s, struct error *err)
{
	struct cli *c = s->cli;
	const struct run_session_job *job = s->job;
	struct request_label labels[LABELS_MAX];
	AUTO(strv) env = STRV_INIT(ENV_MAX);
	auto_free struct text *argv = mem_alloc(job->n_argv * sizeof(*argv));
	struct dispatch d = {
		.argv = argv,
		.n_argv = job->n_argv,
		.labels = labels,
		.title = job->title,
		.task = job->task,
		.cancel_fd = job->signals,
		.show_build = show_build,
		.show_build_data = s,
		.show_space = show_space,
		.show_space_data = s,
	};
	uint64_t timeout = 0;

	for (size_t i = 0; i < job->n_argv; i++)
		argv[i] = text_of(job->argv[i]);
	if (read_labels(c, labels, &d.n_labels, err) < 0 || read_env(c, &env, err) < 0 ||
		cli_option_duration_ms(c, "--timeout", 0, &timeout, err) < 0)
		return -1;
	d.timeout_ms = (int64_t)timeout;
	fill_input(c, &d, &env);
	return start(s, &d, err);
}

static void record_refusal(struct session *s, const struct error *err)
{
	auto_error struct error second = ERROR_INIT;
	auto_json *record = read_record(s);

	if (!error_is(err, ERROR_USAGE) && write_record(s, record, err, &second) < 0)
		cli_print_error(s->cli, &second);
}

static struct session session_of(struct cli *c, struct run_session_job *job)
{
	return (struct session){.cli = c,
		.job = job,
		.run = RUNDIR_INIT,
		.context = {.home = HOME_INIT},
		.progress = UNBLOCKED_INIT(STDERR_FILENO),
		.quiet = c->json};
}

int run_session(struct cli *c, struct run_session_job *job, struct error *err)
{
	AUTO(session) s = session_of(c, job);

	job->handle[0] = '\0';
	s.out = (struct pass_on){.signals = job->signals, .on_signal = on_signal, .data = &s};
	int status = dispatch(&s, err);
	if (status < 0)
		record_refusal(&s, err);
	return status;
}

int run_session_refused(struct cli *c, struct run_session_job *job, const struct error *err)
{
	AUTO(session) s = session_of(c, job);

	record_refusal(&s, err);
	return -1;
}
