/* Preflight and smoke test of the container executor (container-driver.md §19). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "egress/owner.h"
#include "executor/container/detect.h"
#include "executor/container/driver/check-facts.h"
#include "executor/container/driver/driver.h"
#include "executor/container/driver/egress-address.h"
#include "executor/container/driver/guest-file.h"
#include "executor/container/driver/host-facts.h"
#include "executor/container/driver/image-platform.h"
#include "executor/container/driver/image-store.h"
#include "executor/container/driver/project.h"
#include "executor/container/driver/smoke.h"
#include "executor/container/failure.h"
#include "executor/container/network/nft-call.h"
#include "executor/container/preflight.h"
#include "executor/container/preflight-network.h"
#include "executor/container/validate.h"
#include "executor/rundir/record.h"
#include "image/provenance.h"
#include "sys/cancel.h"
#include "sys/cgroup.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/log.h"

enum { CALL_TIMEOUT_MS = 20000, SMOKE_TIMEOUT_MS = 120000, INFO_MAX = 4 << 20, NOBODY = 65534 };

/* Facts with the memory that their texts point into. */
struct gathered {
	struct preflight_facts facts;
	struct strv env;
	struct captured version, info;
	json_t *told; /* info, read */
	struct str words;
	struct project project;
	struct error route;
};

static void gathered_done(struct gathered *g)
{
	strv_done(&g->env);
	captured_done(&g->version);
	captured_done(&g->info);
	json_decref(g->told);
	str_done(&g->words);
	project_done(&g->project);
	error_clear(&g->route);
}

static int ask(const struct container_driver *d, const struct strv *env, const char *const *args,
	struct captured *ret)
{
	auto_error struct error err = ERROR_INIT;
	struct client_call call = {
		.runtime = &d->runtime,
		.env = env,
		.args = args,
		.timeout_ms = CALL_TIMEOUT_MS,
		.stdout_max = INFO_MAX,
		.cancel_fd = -1,
	};

	return client_run(&call, ret, &err);
}

static bool on_tmpfs(const char *path)
{
	auto_fd int fd = path ? open(path, O_PATH | O_CLOEXEC) : -1;

	return fd >= 0 && file_on_tmpfs(fd) == 1;
}

static void look_at_info(const struct container_driver *d, struct gathered *g)
{
	auto_error struct error err = ERROR_INIT;
	const char *args[] = {"info", "--format={{json .}}", NULL};
	struct preflight_facts *f = &g->facts;

	f->info_rc = ask(d, &g->env, args, &g->info);
	struct text text = {str_text(&g->info.out), g->info.out.len};
	if (f->info_rc == 0)
		g->told = json_read(text, INFO_MAX, "info", ERROR_ENGINE_FAILED, &err);
	const char *silence =
		d->runtime.engine == ENGINE_DOCKER ? detect_docker_silence(g->told) : NULL;
	if (silence) {
		f->info_rc = 1;
		text_escape(&g->words, text_of(silence), FAILURE_QUOTE_BYTES_MAX);
	} else {
		failure_quote(&g->words, &g->info.err, &g->info.out);
	}
	f->info_words = (struct text){str_text(&g->words), g->words.len};
	if (f->info_rc != 0)
		return;
	const json_t *store = json_object_get(g->told, "store");
	f->runroot_tmpfs =
		d->runtime.engine == ENGINE_DOCKER || on_tmpfs(json_get_string(store, "runRoot"));
	if (d->runtime.engine != ENGINE_DOCKER)
		return;
	f->docker_rootless = text_has(text, "name=rootless");
	f->docker_userns = text_has(text, "name=userns");
	const json_t *runtimes = json_object_get(g->told, "Runtimes");
	if (d->options.oci_runtime[0] && json_is_object(runtimes))
		f->registered = json_object_get(runtimes, d->options.oci_runtime) ? REGISTERED_YES
										  : REGISTERED_NO;
}

static void look_at_guest(const struct container_driver *d, struct preflight_facts *f)
{
	auto_error struct error err = ERROR_INIT;

	f->guest = GUEST_OK;
	if (d->home && guest_file_install(d->home, &err) < 0)
		f->guest = strstr(err.message, "without exec") ? GUEST_NOEXEC : GUEST_MISSING;
}

static void look_at_kvm(struct preflight_facts *f)
{
	auto_fd int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	f->kvm = fd >= 0 ? KVM_OK : errno == EACCES || errno == EPERM ? KVM_DENIED : KVM_ABSENT;
}

static void look_at_network(const struct container_driver *d, struct preflight_facts *f)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	f->filter = container_driver_filter(d);
	f->tun = tun >= 0;
	f->nft = f->filter->enabled && !f->rootless && nft_call_usable(&err) == 0;
	f->filter_ready = preflight_network_ready(f);
}

/* A network that is made for the run has its gateway on this host. */
static void look_at_proxy(const struct container_driver *d, struct gathered *g)
{
	struct preflight_facts *f = &g->facts;
	auto_free char *address = NULL;

	f->egress_enabled = d->settings.egress_enabled;
	f->egress_program = egress_owner_installed();
	if (f->network_none || f->filter->enabled || f->version_rc != 0 || f->info_rc != 0)
		return;
	if (egress_address_find(d, &g->env, &address, &g->route) < 0)
		f->egress_no_route = g->route.message;
}

static void look_at_image(const struct container_driver *d, struct gathered *g)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(stored_image) image = STORED_IMAGE_INIT;

	g->facts.image = text_of(d->options.image);
	g->facts.image_origin =
		provenance_origin(&d->settings.provenance->published, g->facts.image);
	AUTO(image_answers)
	answers = {.runtime = &d->runtime, .env = &g->env, .cancel_fd = -1};
	g->facts.image_present = image_store_look_up(&answers, d->options.image, &image, &err) >= 0;
}

/* Could the sandbox's uid make a file there? Mode bits, as far as they decide. */
static bool writable_by(const struct stat *st, uid_t uid, gid_t gid)
{
	unsigned shift = st->st_uid == uid ? 6 : st->st_gid == gid ? 3 : 0;

	return ((st->st_mode >> shift) & 3) == 3;
}

static void look_at_work_dir(
	const struct container_driver *d, const char *work_dir, struct gathered *g)
{
	auto_error struct error err = ERROR_INIT;
	struct preflight_work_dir *w = &g->facts.work_dir;
	struct stat st;

	w->given = true;
	w->path = text_of(work_dir);
	if (project_open(work_dir, &d->runtime, &g->project, &err) < 0)
		return;
	w->is_dir = true;
	if (project_check_owner(&g->project, &d->runtime, &err) < 0) {
		w->refused = true;
		return;
	}
	w->path = text_of(g->project.path);
	auto_free char *user_home = home_of_user_resolved();
	w->refused = validate_work_dir(w->path, text_of(user_home), text_of(d->home ? d->home : ""),
			     &err) < 0;
	if (fstat(g->project.fd, &st) < 0)
		return;
	w->owner_uid = st.st_uid;
	w->writable_by_owner = writable_by(&st, g->project.uid, g->project.gid);
}

static void gather(const struct container_driver *d, const char *work_dir, struct gathered *g)
{
	const char *version[] = {"--version", NULL};
	struct preflight_facts *f = &g->facts;

	*f = (struct preflight_facts){
		.engine = d->runtime.engine,
		.rootless = d->runtime.rootless,
		.path = text_of(d->runtime.path),
		.cgroup_version = cgroup_version(),
		.delegated = cgroup_limits_delegated(),
		.oci_runtime = text_of(d->options.oci_runtime),
		.network_none = strcmp(d->options.network, "none") == 0,
		.selinux_enforcing = host_facts_selinux(),
		.selinux_labelled = d->options.selinux_label[0] != '\0',
		.euid = geteuid(),
		.allow_root_user = d->options.allow_root_user,
		.subids = host_facts_subids(),
	};
	environment_client(
		d->runtime.engine, environ, d->runtime.endpoint, d->home ? d->home : "", &g->env);
	f->version_rc = ask(d, &g->env, version, &g->version);
	f->version = text_trim((struct text){str_text(&g->version.out), g->version.out.len});
	if (f->version_rc == 0)
		look_at_info(d, g);
	look_at_guest(d, f);
	look_at_kvm(f);
	look_at_network(d, f);
	look_at_proxy(d, g);
	f->devices_granted = check_facts_devices_granted(d->home);
	f->images_pinned = check_facts_images_pinned(d);
	if (f->version_rc == 0 && f->info_rc == 0) {
		look_at_image(d, g);
		f->runc_link_bug = check_facts_old_runc(d, &g->env, g->told, CALL_TIMEOUT_MS);
	}
	if (work_dir)
		look_at_work_dir(d, work_dir, g);
}

int container_driver_preflight(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err)
{
	const struct container_driver *d = container_driver_of(e);
	AUTO(gathered)
	g = {.env = STRV_INIT(64),
		.words = STR_INIT(8192),
		.project = PROJECT_INIT,
		.route = ERROR_INIT};
	AUTO(preflight_report) report = {.n = 0};

	(void)err;
	gather(d, work_dir, &g);
	preflight_judge(&g.facts, &report);
	*ret = json_pack("{s:s, s:s, s:s, s:s, s:o, s:b}", "executor_id", e->id, "runtime",
		runtime_text(&d->runtime), "oci_runtime", d->options.oci_runtime, "image",
		d->options.image, "findings", preflight_report_to_json(&report), "ok",
		preflight_ok(&report));
	if (work_dir)
		json_object_set_new(*ret, "work_dir", json_from_string(work_dir));
	return 0;
}

/* A fresh directory that the sandbox can write to: 0777, owned by nobody (rootless: by us). */
static int make_smoke_dir(const struct container_driver *d, char *template, struct error *err)
{
	if (!mkdtemp(template) || chmod(template, 0777) < 0)
		return error_set_errno(err, ERROR_IO, errno, "making %s", template);
	if (!d->runtime.rootless && geteuid() == 0 && chown(template, NOBODY, NOBODY) < 0)
		return error_set_errno(err, ERROR_IO, errno, "giving %s to nobody", template);
	return 0;
}

/* A folder that mkdtemp made in /tmp. */
static void remove_temporary(const char *path)
{
	auto_error struct error err = ERROR_INIT;

	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tmp >= 0 && file_remove_tree_at(tmp, path + strlen("/tmp/"), &err) < 0)
		log_warning("%s", err.message);
}

static int run_smoke(const struct executor *e, const char *dir, const char *home, json_t *result,
	struct error *err)
{
	static const struct text argv[] = {TEXT("/usr/local/bin/cloop"), TEXT("version")};
	static const struct request_label labels[] = {{TEXT("component"), TEXT("smoke-test")}};
	const struct container_driver *d = container_driver_of(e);
	struct candidate able = {0};
	container_driver_capabilities(e, &able);
	struct container_request request = {
		/* The executor's defaults, as far as it can hold any. */
		.has_limits = !able.resource_limits,
		.work_dir = text_of(dir),
		.argv = argv,
		.n_argv = ARRAY_SIZE(argv),
		.image = text_of(d->options.image),
		.labels = labels,
		.n_labels = ARRAY_SIZE(labels),
		.guest_binary = true,
	};
	struct record_facts facts = {.executor_id = e->id,
		.executor_kind = "container",
		.isolation = "container",
		.title = "smoke test"};
	auto_json *first = record_new(&facts);
	json_object_set_new(record_supervision(first), "trial", json_true());
	struct executor_start start = {.home = home,
		.request = &request,
		.image_origin =
			provenance_origin(&d->settings.provenance->published, request.image),
		.record = first,
		.timeout_ms = SMOKE_TIMEOUT_MS,
		.cancel_fd = cancel_fd()};

	return smoke_run(e, &start, result, err);
}

/* work_dir: NULL = a directory made for it. */
static int smoke_in(const struct executor *e, const char *work_dir, const char *home,
	json_t *result, struct error *err)
{
	char dir[] = "/tmp/cloop-smoke-XXXXXX";
	int r = 0;

	if (work_dir)
		return run_smoke(e, work_dir, home, result, err);
	r = make_smoke_dir(container_driver_of(e), dir, err);
	if (r == 0)
		r = run_smoke(e, dir, home, result, err);
	remove_temporary(dir);
	return r;
}

int container_driver_smoke_test(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err)
{
	const struct container_driver *d = container_driver_of(e);
	char temporary_home[] = "/tmp/cloop-home-XXXXXX";
	const char *home = d->home;

	*ret = json_pack("{s:s, s:s, s:s, s:s, s:n, s:n, s:n, s:n}", "image", d->options.image,
		"runtime", runtime_text(&d->runtime), "oci_runtime", d->options.oci_runtime,
		"mounted_binary", "/usr/local/bin/cloop", "container_name", "output", "exit_code",
		"duration_ms");
	if (!home && !mkdtemp(temporary_home))
		return error_set_errno(err, ERROR_IO, errno, "making a temporary home");
	home = home ? home : temporary_home;
	int r = image_platform_check(d, home, err);
	if (r == 0)
		r = smoke_in(e, work_dir, home, *ret, err);
	if (!d->home)
		remove_temporary(temporary_home);
	return r;
}
