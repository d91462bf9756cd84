#include "limits/ceiling.h"

#include "base/enum-text.h"
#include "schema/value.h"

static const char *const names[] = {
	[CEILING_FLEET] = "fleet",
	[CEILING_EXECUTOR] = "executor",
	[CEILING_PROJECT] = "project",
};
ENUM_TEXT(ceiling, names, CEILING_COUNT)

typedef enum problem_code parse_fn(struct text t, uint64_t max, uint64_t *ret);

#define SIZES "0, or 64m to 1t (a number alone is MB)"

static const struct bound {
	uint64_t minimum;
	uint64_t maximum;
	parse_fn *parse;
	const char *allowed;
} bounds[] = {
	[RESOURCE_CPU] = {1, CEILING_CPU_MAX, value_cpu, "0 to 1024 cores"},
	[RESOURCE_MEMORY] = {CEILING_MB_MIN, CEILING_MB_MAX, value_size, SIZES},
	[RESOURCE_DISK] = {CEILING_MB_MIN, CEILING_MB_MAX, value_size, SIZES},
	[RESOURCE_PIDS] = {1, CEILING_PIDS_MAX, value_integer, "0 to 65536 processes"},
};
static_assert(ARRAY_SIZE(bounds) == RESOURCE_COUNT, "bounds for every resource");

int ceiling_check(const struct limits *l, const char *what, struct error *err)
{
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		uint64_t value = resource_get(l, r);
		if (value == 0 || (value >= bounds[r].minimum && value <= bounds[r].maximum))
			continue;
		/* One that was stored as less than 0 is shown as such. */
		error_set(err, ERROR_LIMITS_CONFIGURATION, "%s: %s is %lld, which is out of range",
			what, resource_member(r), (long long)value);
		return error_set_remedy(err, "set %s to %s with cloop limits set, or clear it",
			resource_text(r), bounds[r].allowed);
	}
	return 0;
}

int ceiling_parse(enum resource r, struct text value, uint64_t *ret, struct error *err)
{
	AUTO(str) advice = STR_INIT(PROBLEM_TEXT_MAX);
	uint64_t parsed = 0;
	enum problem_code fault = bounds[r].parse(value, bounds[r].maximum, &parsed);

	if (fault == PROBLEM_NONE && parsed > 0 && parsed < bounds[r].minimum)
		fault = PROBLEM_BELOW_MINIMUM;
	if (fault == PROBLEM_NONE) {
		*ret = parsed;
		return 0;
	}
	error_set(err, ERROR_LIMITS_CONFIGURATION, "%s ceiling %s %s", resource_text(r),
		quoted(value), value_fault_text(fault));
	error_add_detail(err, "rule", json_string(problem_code_text(fault)));
	if (fault == PROBLEM_NOT_A_SIZE && value_size_advice(value, &advice))
		return error_set_remedy(err, "write %s", str_text(&advice));
	return error_set_remedy(err, "%s", bounds[r].allowed);
}
