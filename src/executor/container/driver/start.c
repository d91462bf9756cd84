/*
 * Starting a run (container-driver.md §9.1): everything that can be refused is refused before
 * anything exists (project, mount sources, the engine line), then the run directory, the image,
 * and the supervisor, to which the opened descriptors and the values of variables are handed over.
 */
#include <string.h>
#include <sys/resource.h>
#include <fcntl.h>

#include "base/secret.h"
#include "base/mem.h"
#include "base/num.h"
#include "egress/session.h"
#include "executor/container/argv-check.h"
#include "executor/container/driver/daemon.h"
#include "executor/container/driver/disk-start.h"
#include "executor/container/driver/driver.h"
#include "executor/container/driver/egress-address.h"
#include "executor/container/driver/guest-file.h"
#include "executor/container/driver/hardware-plan.h"
#include "executor/container/driver/handover.h"
#include "executor/container/driver/lease-plan.h"
#include "executor/container/driver/project.h"
#include "executor/container/driver/run-image.h"
#include "executor/container/driver/run-network.h"
#include "executor/container/hosts.h"
#include "executor/container/launch.h"
#include "executor/container/plan.h"
#include "executor/container/validate.h"
#include "executor/rundir/prune.h"
#include "executor/rundir/record.h"
#include "executor/rundir/space-wait.h"
#include "executor/rundir/stage-record.h"
#include "executor/rundir/stage-wipe.h"
#include "image/setup.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "vault/material.h"

enum { SOURCES_MAX = 16, ENV_MAX = 64, MS = 1000 };

#define EXPLAINED_HANDLE "c-000000000000"

/* Everything of one start that has to be released. */
struct preparation {
	const struct container_driver *driver;
	const struct executor *executor;
	const struct executor_start *start;
	struct home home;
	struct project project;
	struct project_source sources[SOURCES_MAX];
	struct request_mount mounts[SOURCES_MAX];
	size_t n_sources;
	struct project_source repos[SOURCES_MAX];
	struct request_mount host_mounts[SOURCES_MAX];
	size_t n_repos;
	struct strv client_env;
	struct image_verdict verdict;
	struct run_image image;
	struct run_network network;
	struct argv_line line;
	struct plan_disk disk;
	int given[PLAN_MOUNTS_MAX]; /* the descriptors of the plan's given mounts, in its order */
	size_t n_given;
	char *guest, *user_home, *run_dir;
	char *stage; /* where the lease's files will lie on the host; NULL = there are none */
};

static void preparation_done(struct preparation *p)
{
	for (size_t i = 0; i < p->n_sources; i++)
		project_source_done(&p->sources[i]);
	for (size_t i = 0; i < p->n_repos; i++)
		project_source_done(&p->repos[i]);
	for (size_t i = 0; i < p->n_given; i++)
		close(p->given[i]);
	strv_done(&p->client_env);
	run_image_done(&p->image);
	run_network_done(&p->network);
	argv_line_done(&p->line);
	project_done(&p->project);
	home_done(&p->home);
	free(p->guest);
	free(p->user_home);
	free(p->run_dir);
	free(p->stage);
}

static int64_t hard_limit(int resource)
{
	struct rlimit r;

	if (getrlimit((__rlimit_resource_t)resource, &r) < 0 || r.rlim_max == RLIM_INFINITY)
		return -1;
	return (int64_t)r.rlim_max;
}

static int64_t pid_max(void)
{
	AUTO(str) text = STR_INIT(64);
	uint64_t n;

	if (file_read_at(AT_FDCWD, "/proc/sys/kernel/pid_max", 63, &text) < 0 ||
		num_parse(text_trim(text_of(str_text(&text))), INT32_MAX, &n) != NUM_OK)
		return 4194304;
	return (int64_t)n;
}

static void look_at_host(const struct preparation *p, struct request_host *ret)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*ret = (struct request_host){
		.home_id = text_of(p->home.id),
		.cpus = cpus > 0 ? (unsigned)cpus : 1,
		.nofile_hard = hard_limit(RLIMIT_NOFILE),
		.nproc_hard = hard_limit(RLIMIT_NPROC),
		.pid_max = pid_max(),
		.guest = text_of(p->guest),
		.user_home = text_of(p->user_home),
		.cloop_home = text_of(p->home.path),
	};
}

/* The request as argv_build() wants it, but for the lease's files; it borrows from p. */
static struct container_request request_of(
	struct preparation *p, const char *handle, const char *image)
{
	struct container_request request = *p->start->request;

	mem_set_string(&p->run_dir, NULL);
	p->run_dir = mem_printf("%s/runs/%s", p->home.path, handle);
	request.handle = text_of(handle);
	request.run_dir = text_of(p->run_dir);
	request.work_dir = text_of(p->project.path);
	request.owner_uid = p->project.uid;
	request.owner_gid = p->project.gid;
	request.image = text_of(image);
	request.image_user = p->image.stored.has_user;
	request.mounts = p->mounts;
	request.n_mounts = p->n_sources;
	request.host_mounts = p->host_mounts;
	request.n_host_mounts = p->n_repos;
	run_network_fill(&p->network, p->executor->id, handle, &request);
	memcpy(request.project_files, p->project.files, sizeof(request.project_files));
	return request;
}

/* What §6.5 refuses before it comes to mounts is refused before their sources are looked at. */
static int check_request(struct preparation *p, struct error *err)
{
	struct container_request request = request_of(p, EXPLAINED_HANDLE, RUN_IMAGE_UNKNOWN);
	struct request_host host;
	struct argv_check check = {
		.runtime = &p->driver->runtime,
		.options = &p->driver->options,
		.request = &request,
		.host = &host,
	};

	look_at_host(p, &host);
	return argv_check(&check, err);
}

/* The line for this handle and image; what §6.5 refuses is refused here. */
static int build_line(
	struct preparation *p, const char *handle, const char *image, struct error *err)
{
	struct container_request request = request_of(p, handle, image);
	struct request_host host;
	struct request_mount stage;
	AUTO(argv_line) line = ARGV_LINE_INIT;

	look_at_host(p, &host);
	if (p->stage) {
		stage = (struct request_mount){.source = text_of(p->stage),
			.target = text_of(p->start->material->dir),
			.read_only = true};
		request.secret_dirs = &stage;
		request.n_secret_dirs = 1;
	}
	if (argv_build(&p->driver->runtime, &p->driver->options, &request, &host, &line, err) < 0)
		return -1;
	argv_line_done(&p->line);
	p->line = line;
	line = ARGV_LINE_INIT;
	return 0;
}

static int open_sources(struct preparation *p, struct error *err)
{
	const struct container_request *r = p->start->request;

	if (r->n_mounts > SOURCES_MAX)
		return error_set(err, ERROR_MOUNTS_TOO_MANY, "%zu mounts", r->n_mounts);
	for (size_t i = 0; i < r->n_mounts; i++) {
		p->sources[i] = PROJECT_SOURCE_INIT;
		p->n_sources = i + 1;
		if (project_open_source(&p->project, &r->mounts[i], &p->sources[i], err) < 0)
			return -1;
		p->mounts[i] = r->mounts[i];
		p->mounts[i].source = text_of(p->sources[i].path);
	}
	return 0;
}

static int open_repositories(struct preparation *p, struct error *err)
{
	const struct container_request *r = p->start->request;

	if (r->n_host_mounts > SOURCES_MAX)
		return error_set(
			err, ERROR_MOUNTS_TOO_MANY, "%zu granted repositories", r->n_host_mounts);
	for (size_t i = 0; i < r->n_host_mounts; i++) {
		p->repos[i] = PROJECT_SOURCE_INIT;
		p->n_repos = i + 1;
		if (project_open_repository(&r->host_mounts[i], &p->repos[i], err) < 0)
			return -1;
		p->host_mounts[i] = r->host_mounts[i];
		p->host_mounts[i].source = text_of(p->repos[i].path);
	}
	return 0;
}

/* The executor decides, whatever was judged before (image-trust.md §4). */
static int judge_image(struct preparation *p, struct error *err)
{
	return image_verdict_pass(p->driver->settings.policy, p->start->image_origin,
		p->start->request->image, &p->verdict, err);
}

static int prepare_lease(struct preparation *p, struct error *err)
{
	const struct material *m = p->start->material;

	if (lease_plan_check(m, err) < 0)
		return -1;
	if (!lease_plan_has_files(m))
		return 0;
	p->stage = stage_record_choose(err);
	return p->stage ? 0 : -1;
}

/* Step 1: nothing exists yet, and nothing is made. */
static int prepare(struct preparation *p, const struct executor *e,
	const struct executor_start *start, struct error *err)
{
	memset(p, 0, sizeof(*p));
	p->driver = container_driver_of(e);
	p->executor = e;
	p->start = start;
	p->home = HOME_INIT;
	p->project = PROJECT_INIT;
	p->client_env = STRV_INIT(ENV_MAX);
	p->image = RUN_IMAGE_INIT;
	p->network = RUN_NETWORK_INIT;
	const struct container_driver *d = p->driver;
	auto_free char *dir = mem_strndup(start->request->work_dir.p, start->request->work_dir.len);
	if (judge_image(p, err) < 0 || home_open(start->home, &p->home, err) < 0)
		return -1;
	p->guest = guest_file_path(p->home.path);
	p->user_home = home_of_user_resolved();
	if (project_open(dir, &d->runtime, &p->project, err) < 0 ||
		run_network_decide(d, start->request, &p->network, err) < 0 ||
		check_request(p, err) < 0 || project_check_owner(&p->project, &d->runtime, err) < 0)
		return -1;
	if (open_sources(p, err) < 0 || open_repositories(p, err) < 0 ||
		prepare_lease(p, err) < 0 ||
		build_line(p, EXPLAINED_HANDLE, RUN_IMAGE_UNKNOWN, err) < 0)
		return -1;
	return client_environment(&d->runtime, p->home.path, &p->client_env, err);
}

/* Step 4, which asks the engine for the first time. */
static int settle_image(struct preparation *p, bool look_only, struct error *err)
{
	struct daemon_question daemon = {
		.runtime = &p->driver->runtime,
		.env = &p->client_env,
		.home = p->home.path,
		.cancel_fd = p->start->cancel_fd,
	};
	struct run_image_question question = {
		.driver = p->driver,
		.start = p->start,
		.env = &p->client_env,
		.home = p->home.path,
		.verdict = &p->verdict,
		.line = &p->line,
		.look_only = look_only,
	};

	return daemon_pass(&daemon, err) < 0 ? -1 : run_image_settle(&question, &p->image, err);
}

int container_driver_precheck(
	const struct executor *e, const struct executor_start *start, struct error *err)
{
	AUTO(preparation) p;

	if (prepare(&p, e, start, err) < 0 || disk_start_check(start, &p.project, &p.disk, err) < 0)
		return -1;
	return settle_image(&p, true, err);
}

int container_driver_explain(const struct executor *e, const struct executor_start *start,
	struct argv_line *ret, struct run_image *ret_image, struct plan_network *ret_network,
	struct error *err)
{
	AUTO(preparation) p;

	if (prepare(&p, e, start, err) < 0 || settle_image(&p, true, err) < 0 ||
		build_line(&p, EXPLAINED_HANDLE, p.image.run, err) < 0)
		return -1;
	*ret = p.line;
	p.line = ARGV_LINE_INIT;
	*ret_image = p.image;
	p.image = RUN_IMAGE_INIT;
	*ret_network = p.network.plan;
	p.network.plan = PLAN_NETWORK_INIT;
	return 0;
}

int container_driver_audit(const struct executor *e, const struct executor_start *start,
	struct argv_line *ret, char **ret_stage, struct error *err)
{
	AUTO(preparation) p;

	if (prepare(&p, e, start, err) < 0 ||
		build_line(&p, EXPLAINED_HANDLE, p.verdict.run_as, err) < 0)
		return -1;
	*ret = p.line;
	p.line = ARGV_LINE_INIT;
	*ret_stage = TAKE_PTR(p.stage);
	return 0;
}

static int add_mount(struct preparation *p, struct plan *plan, const struct mount *m)
{
	if (strcmp(m->source, p->guest) == 0)
		return plan_add_mount(plan, PLAN_MOUNT_GUEST, m->source, m->target, m->read_only);
	if (strcmp(m->target, "/run/cloop/ctl") == 0)
		return plan_add_mount(plan, PLAN_MOUNT_CTL, m->source, m->target, m->read_only);
	if (strcmp(m->target, "/etc/hosts") == 0)
		return plan_add_mount(plan, PLAN_MOUNT_HOSTS, m->source, m->target, m->read_only);
	if (strcmp(m->target, "/etc/resolv.conf") == 0)
		return plan_add_mount(plan, PLAN_MOUNT_RESOLV, m->source, m->target, m->read_only);
	if (p->stage && strcmp(m->source, p->stage) == 0)
		return plan_add_mount(plan, PLAN_MOUNT_STAGE, m->source, m->target, m->read_only);
	for (size_t i = 0; i < p->n_sources; i++)
		if (text_is(p->mounts[i].target, m->target) && p->sources[i].relative)
			return plan_add_mount(plan, PLAN_MOUNT_MAKE, p->sources[i].relative,
				m->target, m->read_only);
	if (p->project.make_hooks && strcmp(m->target, "/workspace/.git/hooks") == 0)
		return plan_add_mount(plan, PLAN_MOUNT_MAKE, ".git/hooks", m->target, m->read_only);
	return plan_add_mount(plan, PLAN_MOUNT_GIVEN, m->source, m->target, m->read_only);
}

/* The descriptor of a mount that dispatch opened: the workspace, a file's mount, a protected file.
 */
static int given_fd(struct preparation *p, const struct plan_mount *m, struct error *err)
{
	static const char prefix[] = "/workspace/";

	if (strcmp(m->target, "/workspace") == 0)
		return dup(p->project.fd);
	for (size_t i = 0; i < p->n_sources; i++)
		if (text_is(p->mounts[i].target, m->target))
			return dup(p->sources[i].fd);
	for (size_t i = 0; i < p->n_repos; i++)
		if (text_is(p->host_mounts[i].target, m->target))
			return dup(p->repos[i].fd);
	for (size_t i = 0; i < PROJECT_FILE_COUNT; i++)
		if (strncmp(m->target, prefix, strlen(prefix)) == 0 &&
			strcmp(m->target + strlen(prefix),
				project_file_path((enum project_file)i)) == 0)
			return project_open_file(&p->project, (enum project_file)i, err);
	return error_set(err, ERROR_INTERNAL, "the mount at %s has no source", m->target);
}

static bool network_off(const struct preparation *p)
{
	return strv_has(&p->line.argv, "--network=none");
}

/* The line's host name: ours, unless extra_args sets another. */
static struct text hostname_of(const struct container_options *o)
{
	static const char flag[] = "--hostname=";

	strv_foreach (arg, &o->extra_args)
		if (strncmp(*arg, flag, strlen(flag)) == 0)
			return text_of(*arg + strlen(flag));
	return TEXT("cloop-sandbox");
}

static char *hosts_text(const struct container_options *o, bool network_off)
{
	AUTO(str) out = STR_INIT(1 << 20);
	struct text entries[OPTIONS_ALLOW_HOSTS_MAX];
	size_t n = network_off ? 0 : o->allow_hosts.n;

	for (size_t i = 0; i < n; i++)
		entries[i] = text_of(o->allow_hosts.v[i]);
	hosts_file(&out, hostname_of(o), entries, n);
	return str_take(&out);
}

static void plan_strings(struct preparation *p, const char *handle, struct plan *plan)
{
	plan->handle = mem_strdup(handle);
	plan->executor_id = mem_strdup(p->executor->id);
	plan->project = mem_strdup(p->project.path);
	plan->container_name = mem_strdup(p->line.name);
	plan->image = p->start->n_setup > 0 ? mem_printf(SETUP_NAME ":%s", p->image.build.key)
					    : mem_strdup(p->image.stored.identity.image);
	plan->guest = mem_strdup(p->guest);
	plan->hosts = hosts_text(&p->driver->options, network_off(p));
	plan->runtime = p->driver->runtime;
	plan->runtime.path = mem_strdup(p->driver->runtime.path);
	plan->runtime.endpoint =
		p->driver->runtime.endpoint ? mem_strdup(p->driver->runtime.endpoint) : NULL;
}

static int make_plan(
	struct preparation *p, const char *handle, struct plan *plan, struct error *err)
{
	const struct container_options *o = &p->driver->options;
	const struct executor_start *start = p->start;

	plan_strings(p, handle, plan);
	plan->standalone = p->line.standalone;
	plan->virtualized = oci_class_of(text_of(o->oci_runtime)).virtualized;
	plan->uid = p->project.uid;
	plan->gid = p->project.gid;
	strv_add_all(&plan->engine_argv, &p->line.argv);
	strv_add_all(&plan->client_env, &p->client_env);
	strv_add_all(&plan->volumes, &p->image.stored.volumes);
	for (size_t i = 0; i < start->request->n_argv; i++)
		strv_add_n(&plan->command, start->request->argv[i].p, start->request->argv[i].len);
	for (size_t i = 0; i < p->line.mounts.n; i++)
		if (add_mount(p, plan, &p->line.mounts.v[i]) < 0)
			return error_set(
				err, ERROR_MOUNTS_TOO_MANY, "more than %d mounts", PLAN_MOUNTS_MAX);
	for (size_t i = 0; o->protect_project_files && i < PROJECT_FILE_COUNT; i++)
		if (p->project.files[i] == PATH_ABSENT)
			strv_add(&plan->absent, project_file_path((enum project_file)i));
	if (start->redact)
		strv_add_all(&plan->redact, start->redact);
	plan->disk = p->disk;
	plan->network = p->network.plan;
	p->network.plan = PLAN_NETWORK_INIT;
	plan->asked = p->line.limits;
	plan->start_timeout_ms = o->start_timeout_seconds * MS;
	plan->stop_grace_ms = o->stop_grace_seconds * MS;
	plan->timeout_ms = start->timeout_ms;
	plan->log_max_mb = o->log_max_mb;
	plan->min_free_mb = (int64_t)start->min_free_mb;
	if (lease_plan_fill(start->material, p->stage, plan, err) < 0)
		return -1;
	if (plan->egress.present && plan->network.kind == NETWORK_PLAN_CONFIGURED &&
		egress_address_find(p->driver, &p->client_env, &plan->egress.address, err) < 0)
		return -1;
	return hardware_plan_fill(start, &plan->hardware, err);
}

static json_t *first_record(struct preparation *p, const char *handle)
{
	json_t *record = json_deep_copy(p->start->record);

	json_object_set_new(record, "handle", json_string(handle));
	json_object_set_new(record, "project", json_from_string(p->project.path));
	if (p->image.run[0])
		run_image_record(&p->image, record);
	json_object_set_new(record_supervision(record), "boot_id", json_string(clock_boot_id()));
	return record;
}

/* The run exists and will not start: its directory keeps the reason. */
static void record_refusal(
	struct preparation *p, const struct rundir *run, const struct error *reason)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = first_record(p, run->handle);

	record_set_state(record, "failed");
	json_object_set_new(record, "outcome", json_string("start_failed"));
	record_set_error(record, reason);
	record_set_time(record, "finished_at", clock_realtime_ns());
	json_object_set_new(record_supervision(record), "cli_exit",
		json_integer(error_code_run_exit(reason->code)));
	(void)!rundir_write(run, RECORD_FILE, record, true, &err);
}

/* Before anybody supervises the run: a mount that changed meanwhile refuses it here. */
static int open_given(struct preparation *p, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->n_mounts; i++) {
		if (plan->mounts[i].kind != PLAN_MOUNT_GIVEN)
			continue;
		int fd = given_fd(p, &plan->mounts[i], err);
		if (fd < 0)
			return -1;
		p->given[p->n_given++] = fd;
	}
	return 0;
}

/* Views of what the preparation has: -1, they are too many. */
static int fill_launch(const struct preparation *p, struct launch *ret)
{
	const struct environment_plan *env = &p->line.env;
	int r = 0;

	strv_foreach (entry, &p->client_env)
		r |= launch_add(&ret->run_env, *entry);
	r |= environment_plan_add_client(env, launch_add, &ret->run_env);
	strv_foreach (entry, &env->entries)
		r |= launch_add(&ret->expected, *entry);
	if (!env->has_home)
		r |= launch_add(&ret->expected, "HOME=/tmp");
	if (env->file.len > 0)
		ret->env_file = env->file.data;
	return r;
}

static int send_launch(void *data, int socket, struct error *err)
{
	struct preparation *p = data;
	AUTO(launch) launch = LAUNCH_INIT;
	int fds[HANDOVER_FDS_MAX];
	size_t n = 1;

	if (fill_launch(p, &launch) < 0)
		return error_set(
			err, ERROR_ENV_TOO_MANY, "more than %d variables", LAUNCH_WORDS_MAX);
	auto_fd int contents =
		p->stage ? lease_plan_contents(p->start->material, &launch, err) : -1;
	if (p->stage && contents < 0)
		return -1;
	const struct material *m = p->start->material;
	if (m && m->egress) {
		launch.egress_token = secret_text(&m->egress->token);
		launch.egress_deadline_ms = m->egress->deadline_ms;
	}
	AUTO(secret) block = {.p = NULL};
	launch_write(&launch, &block);
	auto_fd int memory = file_memfd("launch", secret_text(&block), err);
	if (memory < 0)
		return -1;
	fds[0] = memory;
	if (p->stage)
		fds[n++] = contents;
	memcpy(fds + n, p->given, p->n_given * sizeof(*fds));
	return handover_send(socket, fds, n + p->n_given, err);
}

static int supervise(
	struct preparation *p, const struct rundir *run, int *lock_fd, struct error *err)
{
	struct handover h = {
		.home = &p->home,
		.run = run,
		.lock_fd = lock_fd,
		.cancel_fd = p->start->cancel_fd,
		.ret_supervisor = p->start->ret_supervisor,
		.send = send_launch,
		.data = p,
	};

	return handover_run(&h, err);
}

/* Step 3: from here on every crash is found by who looks at the run. */
static int write_first(struct preparation *p, const struct rundir *run, struct error *err)
{
	auto_json *record = first_record(p, run->handle);

	return rundir_write(run, RECORD_FILE, record, false, err);
}

/* Steps 4 and 5: the image, and what follows from it. */
static int decide(
	struct preparation *p, const struct rundir *run, struct plan *plan, struct error *err)
{
	fault_hit("start:4-image");
	if (guest_file_install(p->home.path, err) < 0 || settle_image(p, false, err) < 0 ||
		build_line(p, run->handle, p->image.run, err) < 0 ||
		make_plan(p, run->handle, plan, err) < 0 || open_given(p, plan, err) < 0)
		return -1;
	auto_json *request = plan_to_json(plan);
	if (rundir_write(run, REQUEST_FILE, request, false, err) < 0 ||
		write_first(p, run, err) < 0)
		return -1;
	fault_hit("start:5-record");
	return p->start->hold ? p->start->hold(p->start->hold_data, run->handle, err) : 0;
}

/* File, policy, ceilings and grants may be others after a wait, and the tree fuller. */
static int prepare_again(struct preparation *p, struct error *err)
{
	const struct executor *e = p->executor;
	const struct executor_start *start = p->start;

	if (start->again) {
		struct preparation fresh;
		if (start->again(start->again_data, &e, &start, err) < 0)
			return -1;
		if (prepare(&fresh, e, start, err) < 0) {
			preparation_done(&fresh);
			return -1;
		}
		preparation_done(p);
		*p = fresh;
	}
	return disk_start_check(p->start, &p->project, &p->disk, err);
}

static int wait_for_space(struct preparation *p, const struct rundir *run, struct error *err)
{
	auto_json *record = first_record(p, run->handle);
	struct space_wait w = {
		.start = p->start,
		.home = &p->home,
		.run = run,
		.record = record,
		.project = p->project.fd,
		.path = p->project.path,
	};

	int r = space_wait(&w, err);
	return r > 0 ? prepare_again(p, err) : r;
}

/* Steps 3-17 with a run directory. */
static int start_run(struct preparation *p, const struct rundir *run, struct error *err)
{
	AUTO(plan) plan = PLAN_INIT;
	auto_fd int lock = -1;

	if (lockfile_try(run->fd, "lock", &lock, err) != 0)
		return error_is(err, ERROR_NONE)
			       ? error_set(err, ERROR_INTERNAL, "a new run is locked")
			       : -1;
	if (write_first(p, run, err) < 0)
		return -1;
	fault_hit("start:3-directory");
	if (wait_for_space(p, run, err) < 0 || decide(p, run, &plan, err) < 0) {
		record_refusal(p, run, err);
		return -1;
	}
	int r = supervise(p, run, &lock, err);
	if (r < 0 && handover_unrecorded(run))
		record_refusal(p, run, err);
	return r;
}

int container_driver_start(const struct executor *e, const struct executor_start *start,
	char ret_handle[EXECUTOR_HANDLE_SIZE], struct error *err)
{
	AUTO(preparation) p;
	AUTO(rundir) run = RUNDIR_INIT;

	ret_handle[0] = '\0';
	fault_hit("start:1-request");
	if (prepare(&p, e, start, err) < 0)
		return -1;
	fault_hit("start:2-disk");
	if (disk_start_check(start, &p.project, &p.disk, err) < 0)
		return -1;
	stage_sweep(&p.home);
	prune_runs(&p.home);
	/* The first start of a version that is new here. */
	if (faccessat(AT_FDCWD, p.guest, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		guest_file_reap(&p.home);
	if (rundir_create(&p.home, &run, err) < 0)
		return -1;
	memcpy(ret_handle, run.handle, HANDLE_SIZE);
	int r = start_run(&p, &run, err);
	if (r < 0 && rundir_discard(&p.home, &run))
		ret_handle[0] = '\0';
	return r;
}
