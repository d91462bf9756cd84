#include "executor/localprocess/local-start.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/argv-check.h"
#include "executor/container/driver/handover.h"
#include "executor/container/environment.h"
#include "executor/localprocess/local-launch.h"
#include "executor/localprocess/local-plan.h"
#include "executor/rundir/prune.h"
#include "executor/rundir/record-end.h"
#include "executor/rundir/space-wait.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"

enum { STOP_GRACE_MS = 10000, LOG_MAX_MB = 64 };

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Everything of one start that has to be released. */
struct preparation {
	const struct executor_start *start;
	struct home home;
	struct local_plan plan;
	struct strv env;
};

static void preparation_done(struct preparation *p)
{
	strv_foreach (entry, &p->env)
		explicit_bzero(*entry, strlen(*entry));
	strv_done(&p->env);
	local_plan_done(&p->plan);
	home_done(&p->home);
}

/* The gate refuses these before; a wish that came another way is not ignored either. */
static int refuse_wishes(const struct container_request *r, struct error *err)
{
	const struct limits *l = &r->limits;
	const struct {
		bool wished;
		const char *what;
	} wishes[] = {
		{r->disable_network, "a network that is off"},
		{r->egress_scope.len > 0, "an egress scope"},
		{r->network.len > 0 || r->n_dns > 0, "a network of its own"},
		{r->has_limits && (l->cpu_millis || l->memory_mb || l->pids || l->disk_mb),
			"limits"},
		{r->n_mounts > 0 || r->n_host_mounts > 0, "mounts"},
		{r->n_secret_dirs > 0, "files of secrets"},
		{r->n_devices > 0, "devices"},
		{r->n_interfaces > 0, "interfaces"},
		{r->n_labels > 0, "labels"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++)
		if (wishes[i].wished)
			return error_set(err, ERROR_EXECUTOR_UNSUPPORTED,
				"a process of the host cannot have %s", wishes[i].what);
	return 0;
}

static int find_project(struct text dir, char **ret, struct error *err)
{
	auto_free char *given = mem_strndup(dir.p ? dir.p : "", dir.len);
	struct stat st;

	if (given[0] == '\0')
		return error_set(err, ERROR_WORK_DIR_MISSING, "no project directory is named");
	auto_free char *path = file_resolve(given);
	if (!path || stat(path, &st) < 0)
		return error_set_errno(err, ERROR_NOT_A_PROJECT, errno, "opening the project %s",
			quoted_string(given));
	if (!S_ISDIR(st.st_mode))
		return error_set_errno(err, ERROR_NOT_A_PROJECT, ENOTDIR, "opening the project %s",
			quoted_string(given));
	*ret = TAKE_PTR(path);
	return 0;
}

static bool has_name(const struct strv *env, const char *prefix)
{
	strv_foreach (entry, env)
		if (strncmp(*entry, prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

/* What was given, and PATH and HOME where it names none; nothing of our own environment. */
static int make_environment(const struct container_request *r, struct strv *env, struct error *err)
{
	if (environment_entries(r->env, r->n_env, env, err) < 0)
		return -1;
	if (!has_name(env, "PATH="))
		strv_add(env, DEFAULT_PATH);
	if (!has_name(env, "HOME=")) {
		auto_free char *home = home_of_user();
		strv_addf(env, "HOME=%s", home[0] ? home : "/");
	}
	return 0;
}

/* Nothing exists yet, and nothing is made. */
static int prepare(struct preparation *p, const struct executor_start *start, struct error *err)
{
	const struct container_request *r = start->request;

	*p = (struct preparation){.start = start,
		.home = HOME_INIT,
		.plan = LOCAL_PLAN_INIT,
		.env = STRV_INIT(ENVIRONMENT_NAMES_MAX + 2)};
	if (home_open(start->home, &p->home, err) < 0 || refuse_wishes(r, err) < 0 ||
		argv_check_words(r, err) < 0 ||
		find_project(r->work_dir, &p->plan.project, err) < 0)
		return -1;
	for (size_t i = 0; i < r->n_argv; i++)
		strv_add_n(&p->plan.command, r->argv[i].p, r->argv[i].len);
	if (start->redact)
		strv_add_all(&p->plan.redact, start->redact);
	p->plan.stop_grace_ms = STOP_GRACE_MS;
	p->plan.timeout_ms = start->timeout_ms;
	p->plan.log_max_mb = LOG_MAX_MB;
	return make_environment(r, &p->env, err);
}

static json_t *first_record(const struct preparation *p, const char *handle)
{
	json_t *record = json_deep_copy(p->start->record);

	json_object_set_new(record, "handle", json_string(handle));
	json_object_set_new(record, "project", json_from_string(p->plan.project));
	/* Whatever image a sandbox would have had: there is none. */
	json_object_set_new(record, "image_requested", json_null());
	json_object_set_new(record_supervision(record), "boot_id", json_string(clock_boot_id()));
	return record;
}

/* The run exists and will not start: its directory keeps the reason. */
static void record_refusal(
	const struct preparation *p, const struct rundir *run, const struct error *reason)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = first_record(p, run->handle);

	record_end_failure(record, "start_failed", reason);
	record_set_time(record, "finished_at", clock_realtime_ns());
	(void)!rundir_write(run, RECORD_FILE, record, true, &err);
}

static int send_launch(void *data, int socket, struct error *err)
{
	const struct preparation *p = data;

	auto_fd int fd = local_launch_write(&p->env, err);
	return fd < 0 ? -1 : handover_send(socket, &fd, 1, err);
}

/* Grants that were denied are put on record; what others bring, no process of the host gets. */
static int hold(const struct preparation *p, const struct rundir *run, struct error *err)
{
	const struct executor_start *start = p->start;

	return start->hold ? start->hold(start->hold_data, run->handle, err) : 0;
}

/* File, policy and grants may be others after a wait. */
static int prepare_again(struct preparation *p, const struct rundir *run, struct error *err)
{
	const struct executor_start *start = p->start;
	const struct executor *same;
	struct preparation fresh;

	if (!start->again)
		return 0;
	if (start->again(start->again_data, &same, &start, err) < 0)
		return -1;
	if (prepare(&fresh, start, err) < 0) {
		preparation_done(&fresh);
		return -1;
	}
	preparation_done(p);
	*p = fresh;
	auto_json *request = local_plan_to_json(&p->plan);
	auto_json *record = first_record(p, run->handle);
	return rundir_write(run, REQUEST_FILE, request, false, err) < 0
		       ? -1
		       : rundir_write(run, RECORD_FILE, record, false, err);
}

static int wait_for_space(
	struct preparation *p, const struct rundir *run, json_t *record, struct error *err)
{
	auto_fd int project = open(p->plan.project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct space_wait w = {
		.start = p->start,
		.home = &p->home,
		.run = run,
		.record = record,
		.project = project,
		.path = p->plan.project,
	};

	int r = space_wait(&w, err);
	return r > 0 ? prepare_again(p, run, err) : r;
}

static int start_run(struct preparation *p, const struct rundir *run, struct error *err)
{
	auto_fd int lock = -1;
	auto_json *request = local_plan_to_json(&p->plan);
	auto_json *record = first_record(p, run->handle);

	int r = lockfile_try(run->fd, "lock", &lock, err);
	if (r != 0)
		return r < 0 ? -1 : error_set(err, ERROR_INTERNAL, "a new run is locked");
	fault_hit("start:3-directory");
	if (rundir_write(run, REQUEST_FILE, request, false, err) < 0 ||
		rundir_write(run, RECORD_FILE, record, false, err) < 0 ||
		wait_for_space(p, run, record, err) < 0 || hold(p, run, err) < 0) {
		record_refusal(p, run, err);
		return -1;
	}
	fault_hit("start:5-record");
	struct handover h = {
		.home = &p->home,
		.run = run,
		.lock_fd = &lock,
		.cancel_fd = p->start->cancel_fd,
		.ret_supervisor = p->start->ret_supervisor,
		.send = send_launch,
		.data = p,
	};
	r = handover_run(&h, err);
	if (r < 0 && handover_unrecorded(run))
		record_refusal(p, run, err);
	return r;
}

int local_start(const struct executor *e, const struct executor_start *start,
	char ret_handle[EXECUTOR_HANDLE_SIZE], struct error *err)
{
	AUTO(preparation) p;
	AUTO(rundir) run = RUNDIR_INIT;

	(void)e;
	ret_handle[0] = '\0';
	if (prepare(&p, start, err) < 0)
		return -1;
	prune_runs(&p.home);
	if (rundir_create(&p.home, &run, err) < 0)
		return -1;
	memcpy(ret_handle, run.handle, HANDLE_SIZE);
	int r = start_run(&p, &run, err);
	if (r < 0 && rundir_discard(&p.home, &run))
		ret_handle[0] = '\0';
	return r;
}
