#include "executor/localprocess/local-supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/localprocess/local-launch.h"
#include "executor/localprocess/local-supervise.h"
#include "executor/rundir/record-end.h"
#include "sys/lockfile.h"
#include "sys/log.h"

static void supervisor_init(struct local_supervisor *s)
{
	*s = (struct local_supervisor){
		.home = HOME_INIT,
		.run = RUNDIR_INIT,
		.plan = LOCAL_PLAN_INIT,
		.lock_fd = -1,
		.caller_fd = -1,
		.launch_fd = -1,
		.gate_fd = -1,
		.child_signals = -1,
		.wait_status = -1,
	};
}

static void supervisor_done(struct local_supervisor *s)
{
	const int *const fds[] = {
		&s->caller_fd, &s->launch_fd, &s->gate_fd, &s->child_signals, &s->lock_fd};

	local_stop_cleanup(s);
	control_server_free(s->server);
	loop_remove(s->caller);
	loop_remove(s->gate);
	loop_remove(s->children);
	loop_remove(s->sweep_timer);
	output_done(&s->output);
	loop_free(s->loop);
	json_decref(s->record);
	local_plan_done(&s->plan);
	rundir_done(&s->run);
	home_done(&s->home);
	error_done(&s->failure);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (*fds[i] >= 0)
			close(*fds[i]);
}

void local_persist(struct local_supervisor *s, bool durable)
{
	auto_error struct error err = ERROR_INIT;

	if (rundir_write(&s->run, RECORD_FILE, s->record, durable, &err) < 0)
		log_warning("%s", err.message);
}

int local_add_secrets(struct local_supervisor *s, const struct strv *environment, struct error *err)
{
	unsigned too_short = 0;

	strv_foreach (entry, environment) {
		size_t n = strcspn(*entry, "=");
		auto_free char *name = mem_strndup(*entry, n);
		if (!strv_has(&s->plan.redact, name) || (*entry)[n] == '\0')
			continue;
		int r = output_redact(&s->output, text_of(*entry + n + 1), err);
		if (r < 0)
			return -1;
		too_short += r == 1;
	}
	if (too_short > 0) {
		auto_free char *words = mem_printf(
			"%u values are shorter than 8 bytes and are not masked in the output",
			too_short);
		output_note(&s->output, words);
	}
	return 0;
}

static int do_status(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct local_supervisor *s = data;

	(void)request;
	(void)err;
	*ret = json_pack("{s:o}", "record", record_public(s->record));
	return 0;
}

static int do_signal(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct text word = json_get_text(request, "signal");

	(void)ret;
	if (text_is(word, "interrupt"))
		return local_stop_signal(data, SIGINT, err);
	if (text_is(word, "terminate"))
		return local_stop_signal(data, SIGTERM, err);
	if (!text_is(word, "kill"))
		return error_set(err, ERROR_SIGNAL_INVALID, "%s is no signal", quoted(word));
	local_stop_request(data, STOP_CANCELLED, 0);
	return 0;
}

static int do_stop(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)ret;
	(void)err;
	local_stop_request(data, STOP_CANCELLED, json_get_int(request, "grace_ms", -1));
	return 0;
}

static int do_never(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)data;
	(void)ret;
	return error_set(err, ERROR_EXECUTOR_UNSUPPORTED, "a host process has no %s",
		quoted(json_get_text(request, "op")));
}

static const struct control_op ops[] = {
	{.op = "status", .run = do_status},
	{.op = "signal", .run = do_signal},
	{.op = "stop", .answered = CONTROL_AT_END, .run = do_stop},
	{.op = "revoke", .run = do_never},
	{.op = "refresh", .run = do_never},
	{.op = "attach", .run = do_never},
	{.op = NULL},
};

/*
 * Not dumpable: it holds values of variables. The mask of modes is the workload's as well, and the
 * same on every host.
 */
static void harden(void)
{
	umask(022);
	prctl(PR_SET_DUMPABLE, 0);
}

static void open_own_log(struct local_supervisor *s)
{
	log_set_fd(openat(s->run.fd, "shim.log",
		O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
}

static json_t *take_record(const struct local_supervisor *s, struct error *err)
{
	struct record_facts facts = {.handle = s->run.handle,
		.executor_id = "localprocess",
		.executor_kind = "localprocess",
		.project = s->plan.project};

	return record_take(&s->run, s->adopted ? &facts : NULL, err);
}

static int open_run(
	struct local_supervisor *s, const char *home, const char *handle, struct error *err)
{
	auto_error struct error second = ERROR_INIT;

	if (home_open(home, &s->home, err) < 0 || rundir_open(&s->home, handle, &s->run, err) < 0)
		return -1;
	open_own_log(s);
	auto_json *request = rundir_read(&s->run, REQUEST_FILE, err);
	int planned = request ? local_plan_from_json(request, &s->plan, err) : -1;
	/* Who gives up for want of a plan ends the run by its record. */
	s->record = take_record(s, planned < 0 ? &second : err);
	if (planned < 0 || !s->record)
		return -1;
	s->loop = loop_new(err);
	if (!s->loop || output_init(&s->output, s->loop, &s->run, s->plan.log_max_mb, err) < 0)
		return -1;
	s->server = control_server_open(s->loop, &s->home, s->run.handle, ops, s, err);
	return s->server ? local_finish_watch(s, err) : -1;
}

static int receive_launch(struct local_supervisor *s, struct error *err)
{
	AUTO(launch) launch = LAUNCH_INIT;

	s->launch_fd = local_launch_receive(s->caller_fd, err);
	if (s->launch_fd < 0 || local_launch_read(s->launch_fd, &launch, err) < 0)
		return -1;
	return local_add_secrets(s, &launch.run_env, err);
}

static int run_loop(struct local_supervisor *s)
{
	auto_error struct error err = ERROR_INIT;

	if (loop_run(s->loop, &err) < 0)
		log_error("%s", err.message);
	bool over = s->phase == LOCAL_OVER;
	supervisor_done(s);
	return over ? 0 : 1;
}

/*
 * Nothing was started and there may be no log: only the record can say so. A run that was to be
 * taken over stays as it is, for the next one, unless a power cut took what was decided for it.
 */
static int give_up(struct local_supervisor *s, const struct error *err)
{
	log_error("%s", err->message);
	if (s->record && !s->adopted) {
		record_set_error(s->record, err);
		record_set_state(s->record, "failed");
		json_object_set_new(s->record, "outcome", json_string("start_failed"));
		json_object_set_new(record_supervision(s->record), "cli_exit",
			json_integer(error_code_run_exit(err->code)));
		local_persist(s, true);
	}
	if (s->record && s->adopted && record_end_undecided(&s->run, s->record, NULL))
		control_unlink(&s->home, s->run.handle);
	auto_json *envelope = error_to_json(err);
	local_begin_answer(s, envelope);
	supervisor_done(s);
	return 1;
}

int local_supervise_start(const char *home, const char *handle, int lock_fd, int caller_fd)
{
	struct local_supervisor s;
	auto_error struct error err = ERROR_INIT;

	harden();
	supervisor_init(&s);
	s.lock_fd = lock_fd;
	s.caller_fd = caller_fd;
	if (open_run(&s, home, handle, &err) < 0 || receive_launch(&s, &err) < 0)
		return give_up(&s, &err);
	local_begin(&s);
	return run_loop(&s);
}

int local_supervise_adopt(const char *home, const char *handle)
{
	struct local_supervisor s;
	auto_error struct error err = ERROR_INIT;
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	harden();
	supervisor_init(&s);
	s.adopted = true;
	if (home_open(home, &h, &err) < 0 || rundir_open(&h, handle, &run, &err) < 0) {
		log_error("%s", err.message);
		return 1;
	}
	int held = lockfile_try(run.fd, "lock", &s.lock_fd, &err);
	if (held != 0)
		return held < 0 ? 1 : 0;
	if (open_run(&s, home, handle, &err) < 0)
		return give_up(&s, &err);
	local_adopt(&s);
	return run_loop(&s);
}
