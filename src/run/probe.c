#include "run/probe.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "base/json.h"
#include "base/mem.h"
#include "executor/container/detect.h"
#include "executor/container/driver/driver.h"
#include "executor/container/driver/host-facts.h"
#include "sys/cgroup.h"
#include "sys/file.h"

enum { CALL_TIMEOUT_MS = 60000, EMPTY_TAR = 1024, LAST_WORDS_MAX = 500 };

#define PROBE_IMAGE "localhost/cloop-probe:latest"

void probe_done(struct probe *p)
{
	free(p->runtime);
	free(p->oci_runtime);
	strv_done(&p->found);
	strv_done(&p->missing);
	*p = PROBE_INIT;
}

static const char *package_of(enum engine e)
{
	return e == ENGINE_PODMAN ? "apt install podman crun runc uidmap slirp4netns"
				  : "apt install docker.io";
}

/* An engine's first words may be about something else; what ended it comes last. */
static void add_last_words(const struct str *said, struct error *err)
{
	struct text words = text_trim((struct text){str_text(said), said->len});
	const char *lf = words.len ? memrchr(words.p, '\n', words.len) : NULL;
	struct text last = lf ? text_after(words, (size_t)(lf + 1 - words.p)) : words;
	AUTO(str) shown = STR_INIT(4 * LAST_WORDS_MAX);

	text_escape(&shown, last, LAST_WORDS_MAX);
	if (shown.len == 0 || strstr(err->message, str_text(&shown)))
		return;
	auto_free char *message = mem_strdup(err->message);
	auto_free char *remedy = mem_strdup(error_remedy(err));
	error_set(err, err->code, "%s … %s", message, str_text(&shown));
	error_set_remedy(err, "%s", remedy);
}

static int engine_call(const struct runtime *runtime, const struct home *home,
	const char *const *args, struct error *err)
{
	AUTO(strv) env = STRV_INIT(64);
	AUTO(captured) answer = {.status = 0};
	struct client_call call = {
		.runtime = runtime,
		.env = &env,
		.args = args,
		.timeout_ms = CALL_TIMEOUT_MS,
		.stdout_max = 65536,
		.cancel_fd = -1,
	};

	if (client_environment(runtime, home->path, &env, err) < 0)
		return -1;
	int r = client_run(&call, &answer, err);
	if (r != 1)
		return r;
	client_explain(&call, &answer, PROBE_IMAGE, err);
	add_last_words(&answer.err, err);
	return -1;
}

/* An image without a single file: the smoke run brings its own program. */
static int make_image(const struct runtime *runtime, const struct home *home, struct error *err)
{
	char zeros[EMPTY_TAR] = {0};
	auto_free char *tar = mem_printf("%s/probe.tar", home->path);
	const char *args[] = {"import", tar, PROBE_IMAGE, NULL};

	if (file_replace_at(home->fd, "probe.tar", 0600, (struct text){zeros, sizeof(zeros)}, false,
		    err) < 0)
		return -1;
	int r = engine_call(runtime, home, args, err);
	unlinkat(home->fd, "probe.tar", 0);
	return r;
}

/* Does a container start under this OCI runtime? */
static int try_runtime(
	const char *engine, const char *oci_runtime, const struct home *home, struct error *err)
{
	static const struct image_policy none = {.default_registry = NULL};
	static const struct provenance_rules off = {.mode = PROVENANCE_OFF};
	static const struct container_settings settings = {.policy = &none, .provenance = &off};
	AUTO(container_options) raw;
	AUTO(container_options) options;
	AUTO_PTR(executor) e = NULL;
	auto_json *result = NULL;

	container_options_init(&raw);
	container_options_init(&options);
	mem_set_string(&raw.runtime, engine);
	mem_set_string(&raw.oci_runtime, oci_runtime);
	mem_set_string(&raw.image, PROBE_IMAGE);
	mem_set_string(&raw.selinux_label, host_facts_selinux() ? "z" : "");
	if (container_options_normalize(&raw, &options, err) < 0 ||
		container_driver_open(home->path, &options, &settings, &e, err) < 0)
		return -1;
	return executor_smoke_test(e, NULL, &result, err);
}

static bool installed(const char *program)
{
	static const char *const folders[] = {
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		auto_free char *path = mem_printf("%s/%s", folders[i], program);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static void try_engine(enum engine engine, const struct home *home, struct probe *p)
{
	static const char *const oci_runtimes[] = {"", "crun", "runc"};
	auto_error struct error err = ERROR_INIT;
	AUTO(runtime) runtime = RUNTIME_INIT;
	const char *name = engine_text(engine);

	if (runtime_detect(name, NULL, &runtime, &err) < 0 ||
		runtime_resolve_endpoint(&runtime, &err) < 0 ||
		make_image(&runtime, home, &err) < 0) {
		strv_addf(&p->missing, "%s: %s (%s)", name, err.message,
			error_is(&err, ERROR_RUNTIME_MISSING) ? package_of(engine)
							      : error_remedy(&err));
		return;
	}
	for (size_t i = 0; !p->runtime && i < ARRAY_SIZE(oci_runtimes); i++) {
		const char *oci = oci_runtimes[i];
		if (oci[0] && !installed(oci))
			continue;
		if (try_runtime(name, oci, home, &err) < 0) {
			strv_addf(&p->missing, "%s with %s: %s", name,
				oci[0] ? oci : "its own OCI runtime", err.message);
			continue;
		}
		p->runtime = mem_strdup(name);
		p->oci_runtime = mem_strdup(oci);
		strv_addf(&p->found, "%s starts containers with %s", name,
			oci[0] ? oci : "its own OCI runtime");
	}
	const char *remove[] = {"image", "rm", "--force", PROBE_IMAGE, NULL};
	(void)!engine_call(&runtime, home, remove, &err);
}

static void look_at_groups(struct probe *p)
{
	int version = cgroup_version();

	strv_addf(&p->found, "control groups version %d", version);
	if (geteuid() != 0 && !(version == 2 && cgroup_limits_delegated()))
		strv_add(&p->missing, "limits: an ordinary user needs cgroup v2 with cpu, memory "
				      "and pids delegated; "
				      "files with `resources` are refused");
}

/* Rootless podman gives sandboxes their users from them. */
static void look_at_subids(struct probe *p)
{
	if (geteuid() == 0)
		return;
	if (host_facts_subids())
		strv_add(&p->found, "own ranges of user and group ids");
	else
		strv_add(&p->missing,
			"podman: no own range in /etc/subuid and /etc/subgid, or no newuidmap "
			"(usermod --add-subuids, --add-subgids; apt install uidmap)");
}

static void look_at_host(struct probe *p)
{
	struct rlimit files;

	look_at_groups(p);
	look_at_subids(p);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		strv_addf(&p->found, "at most %llu open files", (unsigned long long)files.rlim_max);
	if (installed("nft"))
		strv_add(&p->found, "nft, which egress filters need");
	else
		strv_add(&p->missing,
			"nft: not installed, egress cannot be filtered (apt install nftables)");
	p->selinux = host_facts_selinux();
	if (p->selinux)
		strv_add(&p->found, "SELinux enforces: selinux_label is z");
}

void probe_host(const struct home *home, struct probe *ret)
{
	for (int e = 0; e < ENGINE_COUNT && !ret->runtime; e++)
		try_engine((enum engine)e, home, ret);
	look_at_host(ret);
}
