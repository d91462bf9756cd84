#include "executor/container/preflight.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/enum-text.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "executor/container/preflight-network.h"
#include "executor/container/validate.h"
#include "image/missing.h"

static const char *const levels[] = {
	[PREFLIGHT_OK] = "ok", [PREFLIGHT_WARN] = "warn", [PREFLIGHT_FAIL] = "fail"};
ENUM_TEXT(preflight_level, levels, PREFLIGHT_LEVEL_COUNT)

void preflight_report_done(struct preflight_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].message);
		free(r->v[i].fix);
	}
	free(r->v);
	*r = (struct preflight_report){0};
}

void preflight_report_add(struct preflight_report *r, const char *name, enum preflight_level level,
	const char *fix, const char *fmt, ...)
{
	va_list ap;

	r->v = mem_grow(r->v, r->n + 1, sizeof(*r->v));
	va_start(ap, fmt);
	r->v[r->n++] =
		(struct preflight_finding){name, level, mem_vprintf(fmt, ap), mem_strdup(fix)};
	va_end(ap);
}

/* Shorter names for the checks below. */
#define OK(name, ...) preflight_report_add(r, name, PREFLIGHT_OK, "", __VA_ARGS__)
#define WARN(name, fix, ...) preflight_report_add(r, name, PREFLIGHT_WARN, fix, __VA_ARGS__)
#define FAIL(name, fix, ...) preflight_report_add(r, name, PREFLIGHT_FAIL, fix, __VA_ARGS__)

/* A check answers false when the ones behind it cannot be made. */
typedef bool check(const struct preflight_facts *f, struct preflight_report *r);

static bool check_runtime(const struct preflight_facts *f, struct preflight_report *r)
{
	const char *engine = engine_text(f->engine);

	if (f->version_rc != 0) {
		FAIL("runtime", "reinstall the engine, or set another runtime",
			"%s %s cannot run or fails at --version", engine, quoted(f->path));
		return false;
	}
	if (f->masquerade) {
		FAIL("runtime", "set runtime: podman", "%s is podman under docker's name",
			quoted(f->path));
		return false;
	}
	if (f->engine == ENGINE_PODMAN && f->runc_link_bug && !f->images_pinned)
		WARN("runtime", "install runc 1.3.6 or newer, use crun, or pin images by digest",
			"runc is older than 1.3.6: a link in an image's /dev reaches paths of the "
			"host");
	else
		OK("runtime", "%s at %s", quoted(f->version), quoted(f->path));
	return true;
}

static bool check_daemon(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->info_rc != 0) {
		FAIL("daemon",
			f->engine == ENGINE_DOCKER
				? "start it (systemctl start docker) and join the group docker"
				: "give the user ranges in /etc/subuid and /etc/subgid",
			"%s info fails: %.*s", engine_text(f->engine), (int)f->info_words.len,
			f->info_words.len ? f->info_words.p : "");
		return false;
	}
	if (f->remote)
		FAIL("daemon", "unset DOCKER_HOST, or point it to a unix:// socket",
			"the engine is on another machine");
	else if (f->docker_rootless)
		FAIL("daemon", "use the system's dockerd, or rootless podman",
			"the docker daemon is rootless");
	else if (f->docker_userns)
		FAIL("daemon", "run dockerd without userns-remap, or use podman",
			"the docker daemon remaps user namespaces");
	else
		OK("daemon", "%s answers", engine_text(f->engine));
	return true;
}

static bool podman_rootless(const struct preflight_facts *f)
{
	return f->engine == ENGINE_PODMAN && f->rootless;
}

static bool check_rootless(const struct preflight_facts *f, struct preflight_report *r)
{
	if (podman_rootless(f))
		OK("rootless", "containers run without root's rights");
	else
		WARN("rootless", "run cloop as an ordinary user with podman",
			"%s works with root's rights%s", engine_text(f->engine),
			f->engine == ENGINE_DOCKER ? "; its group is as good as root" : "");
	return true;
}

static bool check_subids(const struct preflight_facts *f, struct preflight_report *r)
{
	if (!podman_rootless(f))
		return true;
	if (f->subids)
		OK("subids", "own ranges of user and group ids");
	else
		FAIL("subids",
			"add the user to /etc/subuid and /etc/subgid (usermod --add-subuids) and "
			"install uidmap",
			"no own range in /etc/subuid and /etc/subgid, or no newuidmap");
	return true;
}

static bool check_runroot(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->engine != ENGINE_PODMAN)
		return true;
	if (f->runroot_tmpfs)
		OK("runroot", "podman's run directory is a tmpfs");
	else
		WARN("runroot", "put runroot of storage.conf on a tmpfs, below /run",
			"podman's run directory is on a disk: it will not notice a reboot");
	return true;
}

static bool check_limits(const struct preflight_facts *f, struct preflight_report *r)
{
	if (!podman_rootless(f) || (f->cgroup_version == 2 && f->delegated))
		OK("limits", "cpu, memory and pids can be limited");
	else
		WARN("limits",
			"boot with control groups v2 and delegate cpu, memory and pids to the user "
			"(loginctl enable-linger, where no session of the user's is)",
			"no limits here: files with resources are refused");
	return true;
}

static bool check_init(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->guest == GUEST_OK)
		OK("init", "the sandbox's init can be used");
	else if (f->guest == GUEST_NOEXEC)
		FAIL("init", "choose a home on a filesystem without noexec (--home)",
			"cloop's home is on a filesystem with noexec");
	else
		FAIL("init", "reinstall cloop", "the sandbox's init is missing");
	return true;
}

static bool check_oci_runtime(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->oci_runtime.len == 0)
		return true;
	if (f->registered == REGISTERED_YES)
		OK("oci-runtime", "%s is registered", quoted(f->oci_runtime));
	else if (f->registered == REGISTERED_NO)
		FAIL("oci-runtime", "install it and register it in daemon.json or containers.conf",
			"%s is not registered with the engine", quoted(f->oci_runtime));
	else
		WARN("oci-runtime",
			"if no run starts: install it, or set another oci_runtime (cloop config "
			"init --force finds one)",
			"podman cannot say whether it knows %s: only a run shows it",
			quoted(f->oci_runtime));
	return true;
}

static void add_kvm(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->kvm == KVM_OK)
		OK("kvm", "/dev/kvm can be opened");
	else if (f->kvm == KVM_ABSENT)
		FAIL("kvm", "switch virtualization on, or nested virtualization in a guest",
			"/dev/kvm is absent");
	else
		FAIL("kvm", "join the group kvm", "/dev/kvm cannot be opened for writing");
}

static bool check_isolation(const struct preflight_facts *f, struct preflight_report *r)
{
	struct oci_class class = oci_class_of(f->oci_runtime);

	if (f->oci_runtime.len == 0)
		return true;
	if (class.gvisor)
		OK("gvisor", "%s brings a kernel of its own", quoted(f->oci_runtime));
	if (class.virtualized)
		add_kvm(f, r);
	if (!oci_class_kernel_isolated(class))
		WARN("oci-runtime-isolation", "name a gVisor or Kata runtime for more",
			"%s shares this host's kernel", quoted(f->oci_runtime));
	return true;
}

static bool check_egress(const struct preflight_facts *f, struct preflight_report *r)
{
	preflight_network_judge(f, r);
	return true;
}

static bool check_devices(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->devices_granted)
		WARN("devices", "let the node's own mode deny writing",
			"devices are granted, and it cannot be proved that read-only ones are");
	return true;
}

static bool check_image(const struct preflight_facts *f, struct preflight_report *r)
{
	auto_free char *fix =
		image_missing_remedy(engine_text(f->engine), f->image, f->image_origin);

	if (f->image_present)
		OK("image", "%s is there", quoted(f->image));
	else
		FAIL("image", fix, "%s is not there", quoted(f->image));
	return true;
}

static bool check_selinux(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->selinux_enforcing && f->selinux_labelled)
		OK("selinux", "enforcing, and sources are relabelled");
	else if (f->selinux_enforcing)
		FAIL("selinux", "set selinux_label: z",
			"enforcing, and the sandbox may not touch the project without a label");
	else if (f->selinux_labelled)
		WARN("selinux", "remove selinux_label",
			"a label is set, and SELinux does not enforce");
	return true;
}

static bool check_network(const struct preflight_facts *f, struct preflight_report *r)
{
	if (f->network_none)
		OK("network", "none");
	else if (f->filter_ready)
		OK("network", "filtered");
	else
		WARN("network",
			f->rootless ? "set network: none"
				    : "set network: none, or an egress filter",
			"sandboxes reach whatever this host reaches");
	return true;
}

static void judge_owner(const struct preflight_facts *f, struct preflight_report *r)
{
	const struct preflight_work_dir *w = &f->work_dir;

	if (!podman_rootless(f) && w->owner_uid == 0)
		preflight_report_add(r, "workdir",
			f->allow_root_user ? PREFLIGHT_WARN : PREFLIGHT_FAIL,
			"chown it to an ordinary user, or use rootless podman",
			"%s belongs to root, and so would the workload's processes",
			quoted(w->path));
	else if (podman_rootless(f) && w->owner_uid != f->euid)
		WARN("workdir", "chown it to the user that runs cloop", "%s belongs to uid %u",
			quoted(w->path), w->owner_uid);
	else
		OK("workdir", "%s can be used", quoted(w->path));
}

static bool check_work_dir(const struct preflight_facts *f, struct preflight_report *r)
{
	const struct preflight_work_dir *w = &f->work_dir;

	if (!w->given)
		return true;
	if (!w->is_dir || w->refused) {
		FAIL("workdir", "name a project directory of its own", "%s %s", quoted(w->path),
			w->is_dir ? "is a directory of the system" : "is not a directory");
		return true;
	}
	judge_owner(f, r);
	if (!w->writable_by_owner)
		WARN("workdir-write", "chmod u+wx it",
			"the owner of %s could not create a file there", quoted(w->path));
	return true;
}

static check *const checks[] = {check_runtime, check_daemon, check_rootless, check_subids,
	check_runroot, check_limits, check_init, check_oci_runtime, check_isolation, check_egress,
	check_devices, check_image, check_selinux, check_network, check_work_dir};

void preflight_judge(const struct preflight_facts *facts, struct preflight_report *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (!checks[i](facts, ret))
			return;
}

json_t *preflight_report_to_json(const struct preflight_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "name", r->v[i].name,
						    "level", preflight_level_text(r->v[i].level),
						    "message", json_from_string(r->v[i].message),
						    "fix", json_from_string(r->v[i].fix)));
	return list;
}

bool preflight_ok(const struct preflight_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].level == PREFLIGHT_FAIL)
			return false;
	return true;
}

int preflight_err(const struct preflight_report *r, struct error *err)
{
	AUTO(str) text = STR_INIT(ERROR_TEXT_MAX);

	if (preflight_ok(r))
		return 0;
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].level == PREFLIGHT_FAIL)
			str_addf(&text, "%s%s: %s (fix: %s)", text.len ? "; " : "", r->v[i].name,
				r->v[i].message, r->v[i].fix);
	return error_set(err, ERROR_EXECUTOR_UNAVAILABLE, "%s", str_text(&text));
}

bool preflight_runc_link_bug(struct text version)
{
	static const uint64_t fixed[] = {1, 3, 6};
	struct text part;

	if (!text_starts(version, "runc version "))
		return false;
	version = text_after(version, strlen("runc version "));
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		uint64_t n = 0;
		if (!text_split(&version, '.', &part))
			return true;
		while (part.len && !ascii_digit(part.p[part.len - 1]))
			part.len--;
		size_t digits = 0;
		while (digits < part.len && ascii_digit(part.p[digits]))
			digits++;
		if (num_parse((struct text){part.p, digits}, 1000000, &n) != NUM_OK)
			return true;
		if (n != fixed[i])
			return n < fixed[i];
	}
	return false;
}
