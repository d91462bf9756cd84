#include "limits/effective.h"

#include "base/enum-text.h"

static const char *const names[] = {
	[EFFECTIVE_FROM_NONE] = "none",
	[EFFECTIVE_FROM_DEFAULT] = "default",
	[EFFECTIVE_FROM_CALLER] = "caller",
	[EFFECTIVE_FROM_SPEC] = "spec",
	[EFFECTIVE_FROM_FLEET] = "fleet",
	[EFFECTIVE_FROM_EXECUTOR] = "executor",
	[EFFECTIVE_FROM_PROJECT] = "project",
};
ENUM_TEXT(effective_source, names, EFFECTIVE_FROM_COUNT)

static const enum effective_source source_of_ceiling[] = {
	[CEILING_FLEET] = EFFECTIVE_FROM_FLEET,
	[CEILING_EXECUTOR] = EFFECTIVE_FROM_EXECUTOR,
	[CEILING_PROJECT] = EFFECTIVE_FROM_PROJECT,
};
static_assert(ARRAY_SIZE(source_of_ceiling) == CEILING_COUNT, "a source for every ceiling");

bool effective_disk_enforced(struct text disk_enforcement)
{
	return text_is(disk_enforcement, "sampled") || text_is(disk_enforcement, "quota") ||
	       text_is(disk_enforcement, "eviction");
}

static bool can_hold(const struct effective_input *in, enum resource r)
{
	switch (r) {
	case RESOURCE_CPU:
	case RESOURCE_MEMORY:
		return in->resource_limits;
	case RESOURCE_PIDS:
		return in->pids_limit;
	case RESOURCE_DISK:
		return effective_disk_enforced(in->disk_enforcement);
	case RESOURCE_COUNT:
		break;
	}
	return false;
}

static bool any_ceiling(const struct effective_input *in, enum resource r)
{
	for (enum ceiling c = 0; c < CEILING_COUNT; c++)
		if (resource_get(&in->ceilings[c], r) > 0)
			return true;
	return false;
}

/* Starts from what was asked; CALLER when both ask the same. */
static void take_request(const struct effective_input *in, enum resource r, struct effective *e)
{
	uint64_t caller = resource_get(&in->caller, r), spec = resource_get(&in->spec, r);
	bool by_caller = caller > 0 && (spec == 0 || caller <= spec);

	resource_set(&e->requested, r, by_caller ? caller : spec);
	resource_set(&e->limits, r, by_caller ? caller : spec);
	e->source[r] = by_caller ? EFFECTIVE_FROM_CALLER : EFFECTIVE_FROM_SPEC;
}

/* Nothing stated: the default, replaced by the smallest ceiling if that is less. */
static void take_default(const struct effective_input *in, enum resource r, struct effective *e)
{
	uint64_t value = in->defaults[r] > 0 ? (uint64_t)in->defaults[r] : 0;

	e->source[r] = value > 0 ? EFFECTIVE_FROM_DEFAULT : EFFECTIVE_FROM_NONE;
	for (enum ceiling c = 0; c < CEILING_COUNT; c++) {
		uint64_t ceiling = resource_get(&in->ceilings[c], r);
		if (ceiling == 0 || (value > 0 && ceiling >= value))
			continue;
		value = ceiling;
		e->source[r] = source_of_ceiling[c];
	}
	resource_set(&e->limits, r, value);
}

static void clamp(enum ceiling c, uint64_t ceiling, enum resource r, struct effective *e)
{
	uint64_t value = resource_get(&e->limits, r);

	if (ceiling == 0 || ceiling >= value)
		return;
	e->clamps[e->n_clamps++] = (struct effective_clamp){r, value, ceiling, c};
	resource_set(&e->limits, r, ceiling);
	e->source[r] = source_of_ceiling[c];
}

void effective_limits(const struct effective_input *in, struct effective *ret)
{
	*ret = (struct effective){0};
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		if (!can_hold(in, r))
			ret->unenforced[r] = any_ceiling(in, r);
		else if (resource_get(&in->caller, r) > 0 || resource_get(&in->spec, r) > 0)
			take_request(in, r, ret);
		else
			take_default(in, r, ret);
	}
	for (enum ceiling c = 0; c < CEILING_COUNT; c++)
		for (enum resource r = 0; r < RESOURCE_COUNT; r++)
			if (resource_get(&ret->requested, r) > 0)
				clamp(c, resource_get(&in->ceilings[c], r), r, ret);
}

json_t *effective_limits_to_json(const struct limits *l)
{
	json_t *o = json_object();

	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		json_object_set_new(
			o, resource_member(r), json_integer((json_int_t)resource_get(l, r)));
	return o;
}

static json_t *clamps_to_json(const struct effective *e)
{
	json_t *list = json_array();

	for (size_t i = 0; i < e->n_clamps; i++) {
		const struct effective_clamp *c = &e->clamps[i];
		json_array_append_new(list,
			json_pack("{s:s, s:I, s:I, s:s}", "resource", resource_text(c->resource),
				"requested", (json_int_t)c->requested, "effective",
				(json_int_t)c->effective, "source", ceiling_text(c->source)));
	}
	return list;
}

json_t *effective_to_json(const struct effective *e)
{
	json_t *source = json_object(), *unenforced = json_array();

	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		json_object_set_new(
			source, resource_text(r), json_string(effective_source_text(e->source[r])));
		if (e->unenforced[r])
			json_array_append_new(unenforced, json_string(resource_text(r)));
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "effective", effective_limits_to_json(&e->limits),
		"source", source, "clamps", clamps_to_json(e), "unenforced", unenforced);
}
