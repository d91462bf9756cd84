/* The text rules, made names and options of the container driver (container-driver.md §3, §5). */
#include "runner/case.h"

#include "base/mem.h"
#include "executor/container/hosts.h"
#include "executor/container/options.h"
#include "executor/container/validate.h"

/* What the work_dir cases take for granted (§1). */
#define USER_HOME TEXT("/root")
#define CLOOP_HOME TEXT("/var/lib/cloop")

static json_t *verdict(int r, const struct error *err)
{
	return json_string(r == 0 ? "ok" : error_code_text(err->code));
}

static struct text *texts_of(const json_t *list, size_t *ret_n)
{
	size_t n = json_array_size(list);
	struct text *v = mem_alloc(n * sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = json_text(json_array_get(list, i));
	*ret_n = n;
	return v;
}

static struct request_device device_of(const json_t *o)
{
	return (struct request_device){
		.name = json_get_text(o, "name"),
		.source = json_get_text(o, "source"),
		.target = json_get_text(o, "target"),
		.permissions = json_get_text(o, "permissions"),
	};
}

static struct request_interface interface_of(const json_t *o)
{
	return (struct request_interface){
		.name = json_get_text(o, "name"),
		.source = json_get_text(o, "source"),
		.target = json_get_text(o, "target"),
		.address = json_get_text(o, "address"),
		.gateway = json_get_text(o, "gateway"),
		.mtu = json_get_int(o, "mtu", 0),
	};
}

static int judge_extra_args(json_t *c, struct error *err)
{
	size_t n;
	auto_free struct text *v = texts_of(json_object_get(c, "input"), &n);
	struct text engine = json_get_text(c, "engine");
	int only = !engine.p ? -1 : text_is(engine, "podman") ? ENGINE_PODMAN : ENGINE_DOCKER;

	return validate_extra_args(v, n, only, err);
}

static int judge_device(json_t *c, struct error *err)
{
	struct request_device d = device_of(json_object_get(c, "input"));

	return validate_device(&d, err);
}

static int judge_devices(json_t *c, struct error *err)
{
	json_t *list = json_object_get(c, "input");
	size_t n = json_array_size(list);
	auto_free struct request_device *d = mem_alloc(n * sizeof(*d));

	for (size_t i = 0; i < n; i++)
		d[i] = device_of(json_array_get(list, i));
	return validate_devices(d, n, err);
}

static int judge_interface(json_t *c, struct error *err)
{
	struct request_interface i = interface_of(json_object_get(c, "input"));

	return validate_interface(&i, err);
}

static int judge_interfaces(json_t *c, struct error *err)
{
	json_t *list = json_object_get(c, "input");
	size_t n = json_array_size(list);
	auto_free struct request_interface *v = mem_alloc(n * sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = interface_of(json_array_get(list, i));
	return validate_interfaces(v, n, err);
}

static int judge_secret_files(json_t *c, struct error *err)
{
	json_t *list = json_object_get(c, "input");
	size_t n = json_array_size(list);
	auto_free struct secret_file *f = mem_alloc(n * sizeof(*f));

	for (size_t i = 0; i < n; i++) {
		const json_t *o = json_array_get(list, i);
		f[i] = (struct secret_file){
			.dir = json_get_text(o, "dir"),
			.name = json_get_text(o, "name"),
			.size = (uint64_t)json_get_int(o, "size", 0),
			.mode = json_get_text(o, "mode"),
		};
	}
	return validate_secret_files(f, n, err);
}

static int judge_mount_target(json_t *c, struct error *err)
{
	return validate_mount_target(json_get_text(c, "input"), true, err);
}

static int judge_work_dir(json_t *c, struct error *err)
{
	return validate_work_dir(json_get_text(c, "input"), USER_HOME, CLOOP_HOME, err);
}

static const struct validator {
	const char *name;
	int (*text)(struct text t, struct error *err);
	int (*other)(json_t *c, struct error *err);
} validators[] = {
	{"executor_id", validate_executor_id, NULL},
	{"handle", validate_handle, NULL},
	{"container_name", validate_container_name, NULL},
	{"runtime", validate_runtime, NULL},
	{"oci_runtime", validate_oci_runtime, NULL},
	{"network", validate_network, NULL},
	{"user", validate_user, NULL},
	{"add_host", validate_add_host, NULL},
	{"env_name", validate_env_name, NULL},
	{"label_key", validate_label_key, NULL},
	{"extra_args", NULL, judge_extra_args},
	{"device", NULL, judge_device},
	{"devices", NULL, judge_devices},
	{"interface", NULL, judge_interface},
	{"interfaces", NULL, judge_interfaces},
	{"secret_files", NULL, judge_secret_files},
	{"mount_target", NULL, judge_mount_target},
	{"work_dir", NULL, judge_work_dir},
};

static void run_validate(json_t *c, struct case_result *r)
{
	struct text name = json_get_text(c, "validator");
	auto_error struct error err = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(validators); i++) {
		const struct validator *v = &validators[i];
		if (!text_is(name, v->name))
			continue;
		int answer = v->text ? v->text(json_get_text(c, "input"), &err) : v->other(c, &err);
		case_exact(r, c, verdict(answer, &err));
		return;
	}
	case_exact(r, c, json_string("unknown validator"));
}

static json_t *string_of(const struct str *s)
{
	return json_from_bytes((struct text){str_text(s), s->len});
}

static void run_container_name(json_t *c, struct case_result *r)
{
	char name[64];

	container_name(json_get_text(c, "work_dir"), json_get_text(c, "run_id"), name);
	case_exact(r, c, json_string(name));
}

static void run_label_segment(json_t *c, struct case_result *r)
{
	AUTO(str) out = STR_INIT(1024);

	label_segment(&out, json_get_text(c, "input"));
	case_exact(r, c, string_of(&out));
}

static void run_label_value(json_t *c, struct case_result *r)
{
	AUTO(str) out = STR_INIT(1024);

	label_value(&out, json_get_text(c, "input"));
	case_exact(r, c, string_of(&out));
}

static void run_hosts_file(json_t *c, struct case_result *r)
{
	AUTO(str) out = STR_INIT(1 << 20);
	size_t n;
	auto_free struct text *v = texts_of(json_object_get(c, "add_hosts"), &n);

	hosts_file(&out, json_get_text(c, "hostname"), v, n);
	case_exact(r, c, string_of(&out));
}

static void run_oci_class(json_t *c, struct case_result *r)
{
	struct oci_class class = oci_class_of(json_get_text(c, "input"));

	case_exact(r, c,
		json_pack("{s:b, s:b, s:b}", "virtualized", (int)class.virtualized, "gvisor",
			(int)class.gvisor, "kernel_isolated",
			(int)oci_class_kernel_isolated(class)));
}

static json_t *groups_of(const struct container_options *o)
{
	json_t *list = json_array();

	for (size_t i = 0; i < o->n_group_add; i++)
		json_array_append_new(list, json_integer(o->group_add[i]));
	return list;
}

static json_t *options_json(const struct container_options *o)
{
	json_t *texts = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "id", o->id, "runtime",
		o->runtime, "oci_runtime", o->oci_runtime, "image", o->image, "network", o->network,
		"selinux_label", o->selinux_label);
	json_t *lists = json_pack("{s:o, s:o, s:o}", "group_add", groups_of(o), "allow_hosts",
		json_from_strings(o->allow_hosts.v, o->allow_hosts.n), "extra_args",
		json_from_strings(o->extra_args.v, o->extra_args.n));
	auto_json *rest = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:{s:b}}",
		"cpu_millis", (json_int_t)o->cpu_millis, "memory_mb", (json_int_t)o->memory_mb,
		"pids_limit", (json_int_t)o->pids_limit, "orphan_grace_period_seconds",
		(json_int_t)o->orphan_grace_period_seconds, "start_timeout_seconds",
		(json_int_t)o->start_timeout_seconds, "stop_grace_seconds",
		(json_int_t)o->stop_grace_seconds, "log_max_mb", (json_int_t)o->log_max_mb,
		"allow_root_user", (int)o->allow_root_user, "protect_project_files",
		(int)o->protect_project_files, "egress_filter", "enabled",
		(int)o->egress_filter_enabled);

	json_object_update(texts, lists);
	json_object_update(texts, rest);
	json_decref(lists);
	return texts;
}

static void run_options(json_t *c, struct case_result *r)
{
	AUTO(container_options) given, normal;
	auto_error struct error err = ERROR_INIT;

	container_options_init(&given);
	container_options_init(&normal);
	if (container_options_from_json(json_object_get(c, "options"), &given, &err) < 0 ||
		container_options_normalize(&given, &normal, &err) < 0)
		case_subset(r, c, json_pack("{s:s}", "error", error_code_text(err.code)));
	else
		case_subset(r, c,
			json_pack("{s:b, s:o}", "ok", 1, "normalized", options_json(&normal)));
}

static const char *const validate_fields[] = {"validator", "input", "engine", NULL};
static const char *const name_fields[] = {"work_dir", "run_id", NULL};
static const char *const input_fields[] = {"input", NULL};
static const char *const hosts_fields[] = {"hostname", "add_hosts", NULL};
static const char *const options_fields[] = {"options", NULL};

const struct case_kind case_validate_kinds[] = {
	{"validate", validate_fields, run_validate},
	{"container_name", name_fields, run_container_name},
	{"label_segment", input_fields, run_label_segment},
	{"label_value", input_fields, run_label_value},
	{"hosts_file", hosts_fields, run_hosts_file},
	{"oci_class", input_fields, run_oci_class},
	{"options", options_fields, run_options},
	{0},
};
