/*
 * Theory of operation: argv_build() first judges everything in the order of §6.5 (argv-check.c,
 * mounts.c, argv-labels.c, environment.c), then only writes words. Nothing that the workload chose
 * is written before `--` but paths behind `source=`/`target=`, label values that were cleaned, and
 * names of variables; its values go to the client's environment or the env file.
 */
#include "executor/container/argv.h"

#include <stdio.h>

#include "executor/container/argv-check.h"
#include "executor/container/argv-labels.h"
#include "executor/container/paths.h"
#include "executor/container/validate.h"

enum {
	LINE_WORDS_MAX = 16384,
	NOFILE = 65536,
	PIDS_MAX = 4194304, /* the kernel's own bound of pids */
	CPU_MILLIS_MIN = 10 /* both engines refuse less */
};

struct line {
	const struct argv_check *run;
	struct strv *argv;
	bool podman;
};

/* FLAG and VALUE as one word. */
static void add(const struct line *l, const char *flag, struct text value)
{
	strv_addf(l->argv, "%s%.*s", flag, (int)value.len, value.len ? value.p : "");
}

static void add_all(const struct line *l, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strv_add(l->argv, words[i]);
}

#define ADD_WORDS(l, ...) \
	do { \
		static const char *const words[] = {__VA_ARGS__}; \
		add_all((l), words, ARRAY_SIZE(words)); \
	} while (0)

/* FLAG and a file of the run directory. */
static void add_run_file(const struct line *l, const char *flag, const char *name)
{
	struct text dir = l->run->request->run_dir;

	strv_addf(l->argv, "%s%.*s/%s", flag, (int)dir.len, dir.p, name);
}

static void add_head(const struct line *l, const char *name)
{
	strv_add(l->argv, engine_text(l->run->runtime->engine));
	if (l->run->standalone)
		ADD_WORDS(l, "create", "--pull=never");
	else
		ADD_WORDS(l, "run", "--detach", "--pull=never");
	strv_addf(l->argv, "--name=%s", name);
	strv_addf(l->argv, "--entrypoint=%s",
		l->run->standalone ? PATHS_INIT_STANDALONE : PATHS_INIT);
	ADD_WORDS(l, "--no-healthcheck");
	add_run_file(l, "--cidfile=", "cid");
	if (l->podman)
		ADD_WORDS(l, "--systemd=false");
	if (l->podman && l->run->standalone) {
		ADD_WORDS(l, "--log-driver=passthrough");
		add_run_file(l, "--conmon-pidfile=", "conmon.pid");
		add_run_file(l, "--pidfile=", "init.pid");
	} else {
		ADD_WORDS(l, "--log-driver=none");
	}
}

static void add_confinement(const struct line *l)
{
	if (l->run->options->oci_runtime[0])
		add(l, "--runtime=", text_of(l->run->options->oci_runtime));
	ADD_WORDS(l, "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only");
	/* podman would mount uncapped tmpfs on /run and /var/tmp, and pass the host's proxies on.
	 */
	if (l->podman)
		ADD_WORDS(l, "--read-only-tmpfs=false", "--http-proxy=false");
	ADD_WORDS(l, "--tmpfs=/tmp:rw,nosuid,nodev,exec,size=512m,mode=1777");
	if (!argv_check_has_extra(l->run, "--shm-size="))
		ADD_WORDS(l, "--shm-size=64m");
	ADD_WORDS(l, "--cgroupns=private", "--ipc=private");
	if (l->podman)
		ADD_WORDS(l, "--pid=private", "--uts=private");
}

static int64_t smaller(int64_t own_limit, int64_t n)
{
	return own_limit >= 0 && own_limit < n ? own_limit : n;
}

static void add_ulimit(const struct line *l, const char *name, int64_t n)
{
	char flag[32];

	snprintf(flag, sizeof(flag), "--ulimit=%s=", name);
	if (!argv_check_has_extra(l->run, flag))
		strv_addf(l->argv, "%s%lld:%lld", flag, (long long)n, (long long)n);
}

static void add_ulimits(const struct line *l)
{
	const struct request_host *h = l->run->host;

	add_ulimit(l, "core", 0);
	add_ulimit(l, "nofile", smaller(h->nofile_hard, NOFILE));
	if (l->podman)
		add_ulimit(l, "nproc", smaller(h->nproc_hard, smaller(h->pid_max, PIDS_MAX)));
}

static void add_identity(const struct line *l)
{
	const struct container_options *o = l->run->options;

	if (l->run->runtime->rootless)
		ADD_WORDS(l, "--userns=keep-id");
	/* podman 4.3 takes the caller's id with keep-id only where the image has no USER. */
	if (!l->run->runtime->rootless || l->run->request->image_user)
		strv_addf(l->argv, "--user=%u:%u", l->run->request->owner_uid,
			l->run->request->owner_gid);
	for (size_t i = 0; i < o->n_group_add; i++)
		strv_addf(l->argv, "--group-add=%u", o->group_add[i]);
	if (!argv_check_has_extra(l->run, "--hostname="))
		ADD_WORDS(l, "--hostname=cloop-sandbox");
}

static void add_network(const struct line *l)
{
	const struct container_request *r = l->run->request;

	add(l, "--network=", l->run->network);
	/* podman copies the host's /etc/hosts in otherwise (4.3.1). */
	if (l->podman)
		ADD_WORDS(l, "--no-hosts");
	if (!l->run->network_made)
		return;
	for (size_t i = 0; i < r->n_dns; i++)
		add(l, "--dns=", r->dns[i]);
	if (r->n_dns == 0)
		ADD_WORDS(l, "--dns=127.0.0.1");
	if (!r->ipv6)
		ADD_WORDS(l, "--sysctl=net.ipv6.conf.all.disable_ipv6=1",
			"--sysctl=net.ipv6.conf.default.disable_ipv6=1");
}

static void add_devices(const struct line *l)
{
	const struct container_request *r = l->run->request;

	for (size_t i = 0; i < r->n_devices; i++) {
		const struct request_device *d = &r->devices[i];
		struct text target = d->target.len ? d->target : d->source;
		struct text permissions = d->permissions.len ? d->permissions : TEXT("r");
		strv_addf(l->argv, "--device=%.*s:%.*s:%.*s", (int)d->source.len, d->source.p,
			(int)target.len, target.p, (int)permissions.len, permissions.p);
	}
}

static uint64_t clamp_cpu(uint64_t millis, unsigned host_cpus)
{
	uint64_t most = 1000 * (uint64_t)(host_cpus ? host_cpus : 1);

	if (millis < CPU_MILLIS_MIN)
		return CPU_MILLIS_MIN;
	return millis < most ? millis : most;
}

void argv_cpus_text(uint64_t cpu_millis, unsigned host_cpus, char out[32])
{
	uint64_t millis = clamp_cpu(cpu_millis, host_cpus);
	int n = snprintf(out, 32, "%llu.%03llu", (unsigned long long)(millis / 1000),
		(unsigned long long)(millis % 1000));

	while (out[n - 1] == '0')
		out[--n] = '\0';
	if (out[n - 1] == '.')
		out[n - 1] = '\0';
}

/* Effective limits, or the executor's defaults when none were decided. */
static struct argv_limits limits_of(const struct argv_check *c)
{
	const struct container_options *o = c->options;
	struct limits asked = c->request->limits;

	if (!c->request->has_limits)
		asked = (struct limits){.cpu_millis = o->cpu_millis,
			.memory_mb = o->memory_mb,
			.pids = o->pids_limit > 0 ? (uint64_t)o->pids_limit : 0};
	return (struct argv_limits){
		.cpu_millis = asked.cpu_millis ? clamp_cpu(asked.cpu_millis, c->host->cpus) : 0,
		.memory_mb = asked.memory_mb,
		/* The init is one; the workload gets all that was granted. */
		.pids = asked.pids == 0          ? -1
			: asked.pids >= PIDS_MAX ? PIDS_MAX
						 : (int64_t)asked.pids + 1,
	};
}

static void add_limits(const struct line *l, const struct argv_limits *limits)
{
	char cpus[32];

	if (limits->cpu_millis) {
		argv_cpus_text(limits->cpu_millis, l->run->host->cpus, cpus);
		strv_addf(l->argv, "--cpus=%s", cpus);
	}
	if (limits->memory_mb) {
		strv_addf(l->argv, "--memory=%llum", (unsigned long long)limits->memory_mb);
		/* Equal values: no swap. */
		strv_addf(l->argv, "--memory-swap=%llum", (unsigned long long)limits->memory_mb);
	}
	strv_addf(l->argv, "--pids-limit=%lld", (long long)limits->pids);
}

static void add_environment(const struct line *l, const struct environment_plan *env)
{
	if (!env->has_home)
		ADD_WORDS(l, "--env=HOME=/tmp");
	for (size_t i = 0; i < env->entries.n; i++) {
		struct text rest = text_of(env->entries.v[i]), name;
		text_split(&rest, '=', &name);
		if (!env->in_file[i])
			add(l, "--env=", name);
	}
	if (env->file.len)
		ADD_WORDS(l, "--env-file=" PATHS_ENV_FILE);
}

static void add_tail(const struct line *l)
{
	const struct container_request *r = l->run->request;
	bool no_dns = l->run->network_off || l->run->network_made;

	strv_foreach (arg, &l->run->options->extra_args) {
		if (!no_dns || !text_starts(text_of(*arg), "--dns"))
			strv_add(l->argv, *arg);
	}
	ADD_WORDS(l, "--");
	add(l, "", r->image);
	for (size_t i = 0; i < r->n_argv; i++)
		strv_add_n(l->argv, r->argv[i].p, r->argv[i].len);
}

static void write_line(
	const struct argv_check *run, const struct strv *labels, struct argv_line *to)
{
	struct line l = {run, &to->argv, run->runtime->engine == ENGINE_PODMAN};

	add_head(&l, to->name);
	add_confinement(&l);
	add_ulimits(&l);
	add_identity(&l);
	add_network(&l);
	add_devices(&l);
	add_limits(&l, &to->limits);
	ADD_WORDS(&l, "--workdir=" PATHS_WORKSPACE);
	for (size_t i = 0; i < to->mounts.n; i++)
		strv_add(l.argv, to->mounts.v[i].word);
	strv_add_all(l.argv, labels);
	add_environment(&l, &to->env);
	add_tail(&l);
}

void argv_line_done(struct argv_line *l)
{
	strv_done(&l->argv);
	mount_list_done(&l->mounts);
	environment_plan_done(&l->env);
}

static int plan_mounts(const struct argv_check *run, struct mount_list *ret, struct error *err)
{
	struct mount_plan plan = {
		.engine = run->runtime->engine,
		.options = run->options,
		.request = run->request,
		.guest = run->host->guest,
		.standalone = run->standalone,
		.network_off = run->network_off,
	};

	return mount_list_make(&plan, ret, err);
}

int argv_build(const struct runtime *runtime, const struct container_options *options,
	const struct container_request *request, const struct request_host *host,
	struct argv_line *ret, struct error *err)
{
	struct argv_check run = {
		.runtime = runtime, .options = options, .request = request, .host = host};
	AUTO(argv_line) line = {.argv = STRV_INIT(LINE_WORDS_MAX)};
	AUTO(strv) labels = STRV_INIT(LINE_WORDS_MAX);

	if (argv_check(&run, err) < 0 || plan_mounts(&run, &line.mounts, err) < 0 ||
		argv_labels(options, request, host, &labels, err) < 0 ||
		environment_plan(request->env, request->n_env, &line.env, err) < 0)
		return -1;
	line.standalone = run.standalone;
	line.limits = limits_of(&run);
	container_name(request->work_dir, request->handle, line.name);
	write_line(&run, &labels, &line);
	if (line.argv.n == line.argv.max)
		return error_set(err, ERROR_ARGV_TOO_LARGE,
			"the engine's line has more than %d words", LINE_WORDS_MAX);
	*ret = line;
	line = ARGV_LINE_INIT;
	return 0;
}
