#include "limits/ceiling.h"

#include "base/enum-text.h"
#include "base/num.h"

enum { TEXT_MAX = 32 };

static const char *const names[] = {
	[CEILING_FLEET] = "fleet",
	[CEILING_EXECUTOR] = "executor",
	[CEILING_PROJECT] = "project",
};
ENUM_TEXT(ceiling, names, CEILING_COUNT)

typedef enum num_result parse_fn(struct text t, uint64_t max, uint64_t *ret);

static const struct bound {
	uint64_t minimum;
	uint64_t maximum;
	parse_fn *parse;
	const char *malformed; /* code of text that is not of the grammar */
	const char *allowed;
} bounds[] = {
	[RESOURCE_CPU] = {1, 1024000, num_parse_millis, "not_a_number", "0 to 1024 cores"},
	[RESOURCE_MEMORY] = {64, 1 << 20, num_parse_size_mb, "not_a_size", "0, or 64m to 1t"},
	[RESOURCE_DISK] = {64, 1 << 20, num_parse_size_mb, "not_a_size", "0, or 64m to 1t"},
	[RESOURCE_PIDS] = {1, 65536, num_parse, "not_a_number", "0 to 65536 processes"},
};
static_assert(ARRAY_SIZE(bounds) == RESOURCE_COUNT, "bounds for every resource");

uint64_t ceiling_minimum(enum resource r)
{
	return bounds[r].minimum;
}

uint64_t ceiling_maximum(enum resource r)
{
	return bounds[r].maximum;
}

int ceiling_check(const struct limits *l, const char *what, struct error *err)
{
	for (enum resource r = 0; r < RESOURCE_COUNT; r++) {
		uint64_t value = resource_get(l, r);
		if (value == 0 || (value >= bounds[r].minimum && value <= bounds[r].maximum))
			continue;
		error_set(err, ERROR_LIMITS_CONFIGURATION, "%s: %s is %llu, which is out of range",
			what, resource_member(r), (unsigned long long)value);
		return error_set_remedy(err, "set %s to %s with cloop limits set, or clear it",
			resource_text(r), bounds[r].allowed);
	}
	return 0;
}

static const char *fault_of(enum resource r, struct text t, uint64_t *ret)
{
	if (t.len > TEXT_MAX)
		return "too_long";
	switch (bounds[r].parse(t, bounds[r].maximum, ret)) {
	case NUM_OK:
		return *ret > 0 && *ret < bounds[r].minimum ? "below_minimum" : NULL;
	case NUM_EMPTY:
		return "empty";
	case NUM_NEGATIVE:
		return "negative";
	case NUM_TOO_LARGE:
		return "too_large";
	case NUM_MALFORMED:
		break;
	}
	return bounds[r].malformed;
}

int ceiling_parse(enum resource r, struct text value, uint64_t *ret, struct error *err)
{
	uint64_t parsed = 0;
	const char *fault = fault_of(r, text_trim(value), &parsed);

	if (!fault) {
		*ret = parsed;
		return 0;
	}
	error_set(err, ERROR_LIMITS_CONFIGURATION, "%s ceiling %s: %s", resource_text(r),
		quoted(value), fault);
	error_add_detail(err, "rule", json_string(fault));
	return error_set_remedy(err, "%s", bounds[r].allowed);
}
