#include "runner/case.h"

#include "base/enum-text.h"
#include "base/mem.h"
#include "executor/container/argv.h"
#include "executor/container/capabilities.h"
#include "executor/container/deadline.h"
#include "executor/container/detect.h"
#include "executor/container/failure.h"
#include "executor/container/preflight.h"
#include "executor/container/readback.h"
#include "runner/request-json.h"

static json_t *error_answer(const struct error *err)
{
	return json_pack("{s:s}", "error", error_code_text(err->code));
}

static enum engine engine_of(json_t *c)
{
	int e = engine_from_text(json_get_text(c, "engine"));

	return e < 0 ? ENGINE_PODMAN : (enum engine)e;
}

static void run_argv(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(argv_line) line = ARGV_LINE_INIT;
	AUTO(request_input) in;

	if (request_input_read(c, &in, &err) < 0 ||
		argv_build(&in.runtime, &in.options, &in.request, &in.host, &line, &err) < 0)
		return case_exact(r, c, error_answer(&err));
	case_exact(r, c, json_pack("{s:o}", "argv", json_from_strings(line.argv.v, line.argv.n)));
}

static void run_mount_render(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) out = STR_INIT(1 << 20);
	struct text label = json_get_text(c, "label");
	struct mount_text m = {json_get_text(c, "source"), json_get_text(c, "target"),
		json_get_bool(c, "read_only", false),
		label.len ? (enum mount_label)label.p[0] : MOUNT_LABEL_NONE};

	if (mount_render(engine_of(c), &m, &out, &err) < 0)
		return case_exact(r, c, error_answer(&err));
	case_exact(r, c, json_stringn(str_text(&out), out.len));
}

static void run_cpus_text(json_t *c, struct case_result *r)
{
	char out[32];

	argv_cpus_text((uint64_t)json_get_int(c, "cpu_millis", 0),
		(unsigned)json_get_int(c, "host_cpus", 1), out);
	case_exact(r, c, json_string(out));
}

static void run_env_route(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) value = STR_INIT(64 << 20);
	json_t *fill = json_object_get(c, "value_fill");
	struct text given = json_get_text(c, "value"), piece = json_get_text(fill, "text");
	enum environment_route route;

	str_add(&value, given.p, given.len);
	for (int64_t n = json_get_int(fill, "count", 0); n > 0; n--)
		str_add(&value, piece.p, piece.len);
	if (environment_route(json_get_text(c, "env_name"),
		    (struct text){str_text(&value), value.len}, &route, &err) < 0)
		return case_exact(r, c, error_answer(&err));
	case_exact(r, c, json_string(route == ENVIRONMENT_NAME ? "name" : "file"));
}

static json_t *variables(const struct strv *env)
{
	json_t *o = json_object();

	strv_foreach (entry, env) {
		struct text value = text_of(*entry), name;
		text_split(&value, '=', &name);
		auto_free char *key = mem_strndup(name.p, name.len);
		json_object_set_new(o, key, json_stringn(value.p, value.len));
	}
	return o;
}

static void run_engine_env(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) own = STRV_INIT(4096);
	AUTO(strv) env = STRV_INIT(4096);
	AUTO(environment_plan) plan = {0};
	json_t *workload = json_object_get(c, "workload"), *value;
	size_t n = json_array_size(workload);
	auto_free struct text *entries = mem_alloc((n + 1) * sizeof(*entries));
	static char *const nothing[] = {NULL};
	const char *key;

	json_object_foreach(json_object_get(c, "own_env"), key, value)
		strv_addf(&own, "%s=%s", key, json_string_value(value));
	for (size_t i = 0; i < n; i++)
		entries[i] = json_text(json_array_get(workload, i));
	if (environment_plan(entries, n, &plan, &err) < 0)
		return case_exact(r, c, error_answer(&err));
	environment_client(engine_of(c), own.v ? own.v : nothing, json_get_string(c, "docker_host"),
		json_get_string(c, "docker_config"), &env);
	environment_plan_add_client(&plan, strv_add, &env);
	case_exact(r, c,
		json_pack("{s:o, s:o}", "env", variables(&env), "env_file",
			json_stringn(str_text(&plan.file), plan.file.len)));
}

static mode_t octal(struct text t)
{
	mode_t mode = 0;

	for (size_t i = 0; i < t.len; i++)
		mode = mode * 8 + (mode_t)(t.p[i] - '0');
	return mode;
}

static bool case_find(void *data, const char *key, struct detect_file *ret)
{
	json_t *f = json_object_get(data, key), *dirs = json_object_get(f, "dirs"), *d;
	const char *mode = json_get_string(f, "mode");

	if (!f)
		return false;
	*ret = (struct detect_file){
		.path = mem_strdup(json_get_string(f, "path")),
		.owner_uid = (uid_t)json_get_int(f, "owner_uid", 0),
		.mode = octal(text_of(mode ? mode : "0755")),
		.regular = json_get_bool(f, "regular", true),
		.executable = json_get_bool(f, "executable", true),
	};
	json_array_foreach(dirs, ret->n_dirs, d) ret->dirs[ret->n_dirs] = (struct detect_dir){
		(uid_t)json_get_int(d, "owner_uid", 0), octal(json_get_text(d, "mode"))};
	return true;
}

static int case_version(
	void *data, enum engine engine, const char *path, struct str *ret, struct error *err)
{
	const char *key;
	json_t *f;

	(void)engine;
	(void)err;
	json_object_foreach(data, key, f)
	{
		struct text version = json_get_text(f, "version");
		if (text_is(json_get_text(f, "path"), path))
			str_add(ret, version.p, version.len);
	}
	return 0;
}

static void run_detect(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(runtime) runtime = RUNTIME_INIT;
	struct detect_probe probe = {case_find, case_version, json_object_get(c, "present")};

	if (detect_decide(json_get_string(c, "configured"), (uid_t)json_get_int(c, "euid", 0),
		    &probe, &runtime, &err) < 0)
		return case_exact(r, c, error_answer(&err));
	case_exact(r, c,
		json_pack("{s:s, s:s, s:b}", "name", engine_text(runtime.engine), "path",
			runtime.path, "rootless", runtime.rootless));
}

static void run_explain_failure(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) words = STR_INIT(1 << 20);
	AUTO(str) nothing = STR_INIT(1);
	struct text given = json_get_text(c, "stderr");

	str_add(&words, given.p, given.len);
	const struct failure f = {engine_of(c), TEXT("run"), TEXT("image"), &words, &nothing};
	failure_explain(&f, &err);
	case_exact(r, c, json_string(error_code_text(err.code)));
}

static void read_levels(json_t *levels, int version, struct readback_level *v)
{
	bool v2 = version == 2;
	size_t i;
	json_t *l;

	json_array_foreach(levels, i, l)
	{
		if (i == READBACK_LEVELS_MAX)
			break;
		v[i] = (struct readback_level){
			json_get_text(l, v2 ? "memory.max" : "memory.limit_in_bytes"),
			json_get_text(l, v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes"),
			json_get_text(l, v2 ? "cpu.max" : "cpu.cfs_quota_us"),
			json_get_text(l, "cpu.cfs_period_us"), json_get_text(l, "pids.max")};
	}
}

static void run_limit_readback(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	struct readback_level levels[READBACK_LEVELS_MAX];
	json_t *asked = json_object_get(c, "asked"), *list = json_object_get(c, "levels");
	const struct argv_limits limits = {
		.cpu_millis = (uint64_t)json_get_int(asked, "cpu_millis", 0),
		.memory_mb = (uint64_t)json_get_int(asked, "memory_mb", 0),
		.pids = json_get_int(asked, "pids", -1)};
	const struct readback rb = {.version = (int)json_get_int(c, "version", 2),
		.levels = levels,
		.n_levels = json_array_size(list),
		.swap_on = json_get_bool(c, "swap_on", false)};

	read_levels(list, rb.version, levels);
	if (readback_check(&rb, &limits, &err) == 0)
		return case_exact(r, c, json_string("ok"));
	json_t *got = error_answer(&err);
	json_object_update(got, err.details);
	case_exact(r, c, got);
}

static void run_deadline(json_t *c, struct case_result *r)
{
	static const char *const names[] = {[DEADLINE_NONE] = "none",
		[DEADLINE_REBOOTED] = "rebooted",
		[DEADLINE_FIRE] = "fire"};
	const struct deadline d = {
		json_get_int(c, "deadline_boottime_ms", 0), json_get_text(c, "boot_id")};
	int64_t wait = 0;
	enum deadline_state s = deadline_judge(
		&d, json_get_text(c, "boot_id_now"), json_get_int(c, "now_boottime_ms", 0), &wait);

	case_exact(r, c,
		s == DEADLINE_WAIT ? json_pack("{s:I}", "wait_ms", (json_int_t)wait)
				   : json_string(names[s]));
}

static bool delegated(json_t *controllers)
{
	static const char *const needed[] = {"cpu", "memory", "pids"};
	size_t found = 0, i;
	json_t *name;

	json_array_foreach(controllers, i, name) found +=
		enum_from_text(needed, ARRAY_SIZE(needed), json_text(name)) >= 0;
	return found == ARRAY_SIZE(needed);
}

static void run_capabilities(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(request_input) in;
	json_t *host = json_object_get(c, "host");
	const struct capability_facts facts = {.euid = (uid_t)json_get_int(host, "euid", 0),
		.ip = json_get_bool(host, "ip", false),
		.nsenter = json_get_bool(host, "nsenter", false),
		.cgroup_version = (int)json_get_int(host, "cgroup_version", 0),
		.delegated = delegated(json_object_get(host, "controllers"))};
	auto_json *given = json_pack("{s:O, s:O}", "runtime", json_object_get(c, "runtime"),
		"options", json_object_get(c, "options"));

	if (request_input_read(given, &in, &err) < 0)
		return case_exact(r, c, error_answer(&err));
	const struct container_capabilities can = capabilities_of(&in.options, &in.runtime, &facts);
	case_subset(r, c, capabilities_to_json(&can));
}

static const char *const facts_fields[] = {"engine", "rootless", "version_rc", "masquerade",
	"info_rc", "docker_rootless", "docker_userns", "remote", "subids", "runroot_tmpfs",
	"cgroup_version", "controllers", "guest", "oci_runtime", "runtime_registered", "kvm",
	"network", "filter", "devices_granted", "image_present", "selinux_enforcing",
	"selinux_label", "euid", "allow_root_user", "workdir"};

static int choice(json_t *o, const char *key, const char *const *names, size_t n)
{
	int i = enum_from_text(names, n, json_get_text(o, key));

	return i < 0 ? 0 : i;
}

static void read_work_dir(json_t *w, struct preflight_work_dir *ret)
{
	*ret = (struct preflight_work_dir){
		.given = json_is_object(w),
		.path = TEXT("/srv/projects/proj"),
		.is_dir = text_is(json_get_text(w, "kind"), "dir"),
		.refused = json_get_bool(w, "refused", false),
		.owner_uid = (uid_t)json_get_int(w, "owner_uid", 1000),
		.writable_by_owner = json_get_bool(w, "writable_by_owner", true),
	};
}

static void read_more_facts(json_t *o, struct preflight_facts *f)
{
	static const char *const guests[] = {
		[GUEST_OK] = "ok", [GUEST_MISSING] = "missing", [GUEST_NOEXEC] = "noexec"};
	static const char *const kvms[] = {
		[KVM_OK] = "ok", [KVM_ABSENT] = "absent", [KVM_DENIED] = "denied"};
	json_t *registered = json_object_get(o, "runtime_registered");
	json_t *controllers = json_object_get(o, "controllers");
	const char *network = json_get_string(o, "network");

	f->delegated = !controllers || delegated(controllers);
	f->guest = (enum preflight_guest)choice(o, "guest", guests, ARRAY_SIZE(guests));
	f->kvm = (enum preflight_kvm)choice(o, "kvm", kvms, ARRAY_SIZE(kvms));
	f->registered = json_is_true(registered)    ? REGISTERED_YES
			: json_is_false(registered) ? REGISTERED_NO
						    : REGISTERED_UNKNOWN;
	f->network_none = !network || strcmp(network, "none") == 0;
	f->filter_ready = text_is(json_get_text(json_object_get(o, "filter"), "state"), "ok");
	f->selinux_labelled = json_get_text(o, "selinux_label").len > 0;
	read_work_dir(json_object_get(o, "workdir"), &f->work_dir);
}

static struct preflight_facts read_facts(json_t *o)
{
	struct preflight_facts f = {
		.engine = engine_of(o),
		.rootless = json_get_bool(o, "rootless", false),
		.path = TEXT("/usr/bin/engine"),
		.version = TEXT("engine version 1"),
		.version_rc = (int)json_get_int(o, "version_rc", 0),
		.masquerade = json_get_bool(o, "masquerade", false),
		.info_rc = (int)json_get_int(o, "info_rc", 0),
		.docker_rootless = json_get_bool(o, "docker_rootless", false),
		.docker_userns = json_get_bool(o, "docker_userns", false),
		.remote = json_get_bool(o, "remote", false),
		.subids = json_get_bool(o, "subids", true),
		.runroot_tmpfs = json_get_bool(o, "runroot_tmpfs", true),
		.cgroup_version = (int)json_get_int(o, "cgroup_version", 2),
		.oci_runtime = json_get_text(o, "oci_runtime"),
		.devices_granted = json_get_bool(o, "devices_granted", false),
		.image = TEXT("example.com/image:1"),
		.image_present = json_get_bool(o, "image_present", true),
		.selinux_enforcing = json_get_bool(o, "selinux_enforcing", false),
		.euid = (uid_t)json_get_int(o, "euid", 1000),
		.allow_root_user = json_get_bool(o, "allow_root_user", false),
	};

	read_more_facts(o, &f);
	return f;
}

static bool facts_known(json_t *facts)
{
	const char *key;
	json_t *value;

	json_object_foreach(facts, key,
		value) if (enum_from_text(facts_fields, ARRAY_SIZE(facts_fields), text_of(key)) <
			   0) return false;
	return true;
}

static void run_preflight(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(preflight_report) report = {0};
	json_t *facts = json_object_get(c, "facts"), *got = json_array();
	const struct preflight_facts f = read_facts(facts);

	preflight_judge(&f, &report);
	for (size_t i = 0; i < report.n; i++)
		json_array_append_new(got, json_pack("[s, s]", report.v[i].name,
						   preflight_level_text(report.v[i].level)));
	case_exact(r, c, got);
	bool ok = json_get_bool(c, "expect_ok", true);
	r->ok = r->ok && facts_known(facts) && preflight_ok(&report) == ok &&
		(preflight_err(&report, &err) == 0) == ok;
}

#define FIELDS(...) \
	(const char *const[]) \
	{ \
		__VA_ARGS__, NULL \
	}

const struct case_kind case_argv_kinds[] = {
	{"argv", FIELDS("runtime", "options", "spec", "host"), run_argv},
	{"mount_render", FIELDS("engine", "source", "target", "read_only", "label"),
		run_mount_render},
	{"cpus_text", FIELDS("cpu_millis", "host_cpus"), run_cpus_text},
	{"env_route", FIELDS("env_name", "value", "value_fill"), run_env_route},
	{"engine_env", FIELDS("engine", "own_env", "docker_host", "docker_config", "workload"),
		run_engine_env},
	{"detect", FIELDS("configured", "euid", "present"), run_detect},
	{"explain_failure", FIELDS("engine", "stderr"), run_explain_failure},
	{"limit_readback", FIELDS("asked", "version", "levels", "swap_on"), run_limit_readback},
	{"deadline", FIELDS("boot_id", "boot_id_now", "deadline_boottime_ms", "now_boottime_ms"),
		run_deadline},
	{"capabilities", FIELDS("options", "runtime", "host"), run_capabilities},
	{"preflight", FIELDS("facts", "expect_ok"), run_preflight},
	{NULL, NULL, NULL},
};
