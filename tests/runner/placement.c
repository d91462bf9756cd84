/* Kinds of the sandbox area: limits, render, limits_config, runtime, place, gate (sandbox-spec.md
 * §10-§13). */
#include "runner/case.h"

#include "base/mem.h"
#include "config/config.h"
#include "executor/container/validate.h"
#include "executor/null/null.h"
#include "executor/gate.h"
#include "executor/placement.h"
#include "executor/executor-list.h"
#include "image/reference.h"
#include "limits/effective.h"
#include "limits/render.h"
#include "spec/spec.h"

static struct limits read_limits(const json_t *o)
{
	struct limits l = {0};

	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		resource_set(&l, r, (uint64_t)json_get_int(o, resource_member(r), 0));
	return l;
}

static void run_limits(json_t *c, struct case_result *r)
{
	const json_t *ceilings = json_object_get(c, "ceilings");
	const json_t *defaults = json_object_get(c, "defaults");
	const json_t *executor = json_object_get(c, "executor");
	struct effective_input in = {
		.caller = read_limits(json_object_get(c, "caller")),
		.spec = read_limits(json_object_get(c, "spec")),
		.resource_limits = json_get_bool(executor, "resource_limits", false),
		.pids_limit = json_get_bool(executor, "pids_limit", false),
		.disk_enforcement = json_get_text(executor, "disk_enforcement"),
	};
	struct effective effective;

	for (enum resource i = 0; i < RESOURCE_COUNT; i++)
		in.defaults[i] = json_get_int(defaults, resource_member(i), 0);
	for (enum ceiling i = 0; i < CEILING_COUNT; i++)
		in.ceilings[i] = read_limits(json_object_get(ceilings, ceiling_text(i)));
	effective_limits(&in, &effective);
	case_exact(r, c, effective_to_json(&effective));
}

static void run_render(json_t *c, struct case_result *r)
{
	struct text what = json_get_text(c, "what");
	json_t *value = json_object_get(c, "value");
	auto_free char *text = NULL;

	if (text_is(what, "mb")) {
		text = render_mb((uint64_t)json_integer_value(value));
	} else if (text_is(what, "cpu")) {
		text = render_cpu((uint64_t)json_integer_value(value));
	} else if (text_is(what, "ceiling")) {
		struct limits l = read_limits(value);
		text = render_ceiling(&l);
	}
	case_exact(r, c, json_from_string(text));
}

/* A policy that does not say leaves host execution on: cases switch strict mode on themselves. */
static struct check_policy read_policy(const json_t *o)
{
	return (struct check_policy){
		json_get_bool(o, "host_execution", true), json_get_text(o, "min_agent_build")};
}

static const struct flag {
	const char *name;
	size_t offset;
} flags[] = {
#define FLAG(name) \
	{ \
#name, offsetof(struct requirement, name) \
	}
	FLAG(forbid_degraded),
	FLAG(isolation_required),
	FLAG(virtualization),
	FLAG(kernel_isolation),
	FLAG(container_runtime),
	FLAG(network_egress),
	FLAG(resource_limits),
	FLAG(pids_limit),
	FLAG(disk_limit),
	FLAG(image_override),
	FLAG(sandbox_build),
	FLAG(sandbox_mounts),
	FLAG(host_mounts),
	FLAG(devices),
	FLAG(interfaces),
	FLAG(egress_scope),
	FLAG(workspace_provisioning),
	FLAG(shares_host_filesystem),
	FLAG(branch_bundle),
	FLAG(project_seed),
	FLAG(write_back),
	FLAG(secret_files),
	FLAG(revocation),
	FLAG(stream),
	FLAG(signal),
	FLAG(ignore_capacity),
#undef FLAG
};

static void read_list(const json_t *list, size_t max, struct strv *ret)
{
	size_t i;
	json_t *item;

	*ret = STRV_INIT(max);
	json_array_foreach(list, i, item) if (strv_add(ret, json_string_value(item)) < 0) abort();
}

static enum requirement_network_off read_network_off(struct text t)
{
	if (text_is(t, "enforced"))
		return REQUIREMENT_NETWORK_OFF_ENFORCED;
	return text_is(t, "any") ? REQUIREMENT_NETWORK_OFF_ANY : REQUIREMENT_NETWORK_OFF_NOT;
}

static void read_requirement(const json_t *o, struct requirement *r)
{
	json_t *labels = json_object_get(o, "labels"), *value;
	const char *key;

	mem_set_string(&r->executor_id, json_get_string(o, "executor_id"));
	mem_set_string(&r->platform, json_get_string(o, "platform"));
	mem_set_string(&r->arch, json_get_string(o, "arch"));
	read_list(json_object_get(o, "isolation_allowed"), REQUIREMENT_ISOLATIONS_MAX,
		&r->isolation_allowed);
	read_list(json_object_get(o, "harnesses"), REQUIREMENT_HARNESSES_MAX, &r->harnesses);
	json_object_foreach(labels, key, value)
		requirement_add_label(r, key, json_string_value(value));
	r->network_off = read_network_off(json_get_text(o, "network_off"));
	r->min_memory_mb = (uint64_t)json_get_int(o, "min_memory_mb", 0);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		*(bool *)((char *)r + flags[i].offset) = json_get_bool(o, flags[i].name, false);
}

/* Null executors that report the given capabilities, as the list has them. */
static int register_all(json_t *list, struct executor_list *r, struct error *err)
{
	size_t i;
	json_t *item;

	json_array_foreach(list, i, item)
	{
		AUTO(candidate) c = {0};
		if (candidate_from_json(item, &c, err) < 0 ||
			executor_list_add(r, null_executor_new(&c), err) < 0)
			return -1;
	}
	return 0;
}

/* The refusal as cases write it: details that are words for people are only checked to be there. */
static json_t *placement_answer(const struct error *err)
{
	json_t *rejections = json_deep_copy(json_object_get(err->details, "rejections"));
	size_t i;
	json_t *r;

	json_array_foreach(rejections, i, r) if (json_get_text(r, "detail").len > 0)
		json_object_del(r, "detail");
	return json_pack("{s:O, s:O, s:o}", "constraint",
		json_object_get(err->details, "constraint"), "considered",
		json_object_get(err->details, "considered"), "rejections", rejections);
}

static void run_place(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(executor_list) all = {0};
	AUTO(requirement) need = {0};
	struct check_policy policy = read_policy(json_object_get(c, "policy"));
	const struct candidate *chosen;

	read_requirement(json_object_get(c, "require"), &need);
	if (register_all(json_object_get(c, "candidates"), &all, &err) < 0) {
		r->got = error_to_json(&err);
		return;
	}
	auto_free struct candidate *list = executor_list_candidates(&all);
	if (placement_choose(&policy, list, all.n, &need, &chosen, &err) == 0)
		case_exact(r, c, json_pack("{s:o}", "selected", json_from_bytes(chosen->id)));
	else
		case_exact(r, c, placement_answer(&err));
}

static const char *const limits_fields[] = {
	"caller", "spec", "defaults", "ceilings", "executor", NULL};
static const char *const render_fields[] = {"what", "value", NULL};

/* Every wanted error is among the reported ones in the fields it gives. */
static bool errors_match(json_t *wanted, json_t *got)
{
	size_t i, j;
	json_t *w, *g;

	json_array_foreach(wanted, i, w)
	{
		bool found = false;
		json_array_foreach(got, j, g) found = found || case_has_subset(w, g);
		if (!found)
			return false;
	}
	return true;
}

static void run_limits_config(json_t *c, struct case_result *r)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	AUTO(config) config = {0};
	json_t *expect = json_object_get(c, "expect");

	if (config_parse(json_get_text(c, "yaml"), &config, &errors, &warnings) == 0) {
		json_t *ceiling = effective_limits_to_json(&config.fleet);
		case_exact(r, c, json_pack("{s:b, s:o}", "ok", 1, "ceiling", ceiling));
		return;
	}
	r->got = json_pack("{s:b, s:o}", "ok", 0, "errors", problems_to_json(&errors));
	r->ok = json_is_false(json_object_get(expect, "ok")) &&
		errors_match(json_object_get(expect, "errors"), json_object_get(r->got, "errors"));
}

static json_t *gate_answer(int result, bool unproven, const struct error *err)
{
	if (result == 0)
		return json_pack("{s:b, s:o}", "ok", 1, "warnings",
			unproven ? json_pack("[s]", problem_code_text(PROBLEM_NETWORK_OFF_UNPROVEN))
				 : json_array());
	return json_pack("{s:b, s:s, s:O?, s:O?}", "ok", 0, "error", error_code_text(err->code),
		"constraint", json_object_get(err->details, "constraint"), "alternatives",
		json_object_get(err->details, "alternatives"));
}

static int check_image(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

/* What the file needs; false and r->got when it is not valid. */
static bool file_requirement(json_t *c, struct requirement *need, struct case_result *r)
{
	static const struct spec_checks checks = {.image = check_image};
	AUTO(spec_result) file;

	spec_parse(json_get_text(c, "yaml"), &checks, &file);
	if (file.ok)
		requirement_of(file.present ? &file.spec : NULL, NULL, need);
	else
		r->got = problems_to_json(&file.errors);
	return file.ok;
}

static void run_gate(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(executor_list) all = {0};
	AUTO(executor_list) bound = {0};
	AUTO(requirement) need = {0};
	auto_json *only = json_pack("[O]", json_object_get(c, "executor"));
	struct check_policy policy = read_policy(json_object_get(c, "policy"));
	bool unproven = false;

	if (!file_requirement(c, &need, r))
		return;
	if (register_all(json_object_get(c, "registered"), &all, &err) < 0 ||
		register_all(only, &bound, &err) < 0) {
		r->got = error_to_json(&err);
		return;
	}
	auto_free struct candidate *list = executor_list_candidates(&all);
	auto_free struct candidate *executor = executor_list_candidates(&bound);
	struct gate gate = {&policy, &need, executor, list, all.n};
	int result = gate_check(&gate, &unproven, &err);
	case_subset(r, c, gate_answer(result, unproven, &err));
}

static void run_runtime(json_t *c, struct case_result *r)
{
	struct oci_class class = oci_class_of(json_get_text(c, "runtime"));

	case_exact(r, c,
		json_pack("{s:b, s:b}", "virtualized", class.virtualized, "userspace_kernel",
			class.gvisor));
}

static const char *const limits_config_fields[] = {"yaml", NULL};
static const char *const runtime_fields[] = {"runtime", NULL};
static const char *const gate_fields[] = {"policy", "executor", "registered", "yaml", NULL};
static const char *const place_fields[] = {"policy", "candidates", "require", NULL};

const struct case_kind case_placement_kinds[] = {
	{"limits", limits_fields, run_limits},
	{"render", render_fields, run_render},
	{"limits_config", limits_config_fields, run_limits_config},
	{"runtime", runtime_fields, run_runtime},
	{"place", place_fields, run_place},
	{"gate", gate_fields, run_gate},
	{0},
};
