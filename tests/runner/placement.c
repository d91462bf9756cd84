/* Kinds of the sandbox area: limits, render (sandbox-spec.md §10). */
#include "runner/case.h"

#include "limits/effective.h"
#include "limits/render.h"

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

static const char *const limits_fields[] = {
	"caller", "spec", "defaults", "ceilings", "executor", NULL};
static const char *const render_fields[] = {"what", "value", NULL};

const struct case_kind case_placement_kinds[] = {
	{"limits", limits_fields, run_limits},
	{"render", render_fields, run_render},
	{0},
};
