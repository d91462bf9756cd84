#include "executor/container/readback.h"

#include "base/json.h"
#include "base/num.h"

/* An amount that limits; false for `max`, negative and unparsable text. */
static bool read_number(struct text t, uint64_t *ret)
{
	return t.p && num_parse(text_trim(t), UINT64_MAX, ret) == NUM_OK;
}

static bool memory_of(const struct readback *r, size_t level, uint64_t *ret)
{
	return read_number(r->levels[level].memory, ret);
}

static bool swap_of(const struct readback *r, size_t level, uint64_t *ret)
{
	return read_number(r->levels[level].swap, ret);
}

static bool pids_of(const struct readback *r, size_t level, uint64_t *ret)
{
	return read_number(r->levels[level].pids, ret);
}

static bool cpu_of(
	const struct readback *r, size_t level, uint64_t *ret_quota, uint64_t *ret_period)
{
	struct text quota = r->levels[level].cpu, period = r->levels[level].cpu_period;

	if (!quota.p)
		return false;
	if (r->version == 2) {
		period = text_trim(quota);
		text_split(&period, ' ', &quota);
	}
	return read_number(quota, ret_quota) && read_number(period, ret_period) && *ret_period > 0;
}

typedef bool level_value(const struct readback *r, size_t level, uint64_t *ret);

/* The smallest value of all levels; false when no level limits. */
static bool smallest(const struct readback *r, level_value *value, uint64_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < r->n_levels; i++) {
		uint64_t n = 0;
		if (!value(r, i, &n))
			continue;
		*ret = found && *ret < n ? *ret : n;
		found = true;
	}
	return found;
}

static bool held(const struct readback *r, level_value *value, uint64_t most)
{
	uint64_t n = 0;

	return smallest(r, value, &n) && n <= most;
}

/* quota / period <= asked * 1.01, in whole numbers. */
static bool cpu_held(const struct readback *r, uint64_t millis)
{
	for (size_t i = 0; i < r->n_levels; i++) {
		uint64_t quota = 0, period = 0;
		if (cpu_of(r, i, &quota, &period) &&
			(unsigned __int128)quota * 1000 * 100 <=
				(unsigned __int128)millis * 101 * period)
			return true;
	}
	return false;
}

static bool swap_held(const struct readback *r, uint64_t memory_bytes)
{
	bool file = false;

	for (size_t i = 0; i < r->n_levels; i++)
		file = file || r->levels[i].swap.p;
	if (!file)
		return !r->swap_on;
	return held(r, swap_of, r->version == 2 ? 0 : memory_bytes);
}

int readback_check(const struct readback *r, const struct argv_limits *asked, struct error *err)
{
	uint64_t bytes = asked->memory_mb << 20;
	const struct {
		const char *name;
		bool missing;
	} resources[] = {
		{"memory", asked->memory_mb && !held(r, memory_of, bytes)},
		{"swap", asked->memory_mb && !swap_held(r, bytes)},
		{"cpu", asked->cpu_millis && !cpu_held(r, asked->cpu_millis)},
		{"pids", asked->pids > 0 && !held(r, pids_of, (uint64_t)asked->pids)},
	};
	AUTO(strv) missing = STRV_INIT(ARRAY_SIZE(resources));

	for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
		if (resources[i].missing)
			strv_add(&missing, resources[i].name);
	if (missing.n == 0)
		return 0;
	auto_free char *names = strv_join(&missing, ", ");
	error_set(
		err, ERROR_LIMITS_NOT_APPLIED, "the engine did not apply the limits of: %s", names);
	return error_add_detail(err, "resources", json_from_strings(missing.v, missing.n));
}

struct limits readback_effective(const struct readback *r)
{
	struct limits l = {0};
	uint64_t n = 0, period = 0;

	if (smallest(r, memory_of, &n))
		l.memory_mb = n >> 20;
	if (smallest(r, pids_of, &n))
		l.pids = n > 0 ? n - 1 : 0;
	for (size_t i = 0; i < r->n_levels; i++) {
		if (!cpu_of(r, i, &n, &period))
			continue;
		uint64_t millis = (uint64_t)((unsigned __int128)n * 1000 / period);
		l.cpu_millis = l.cpu_millis && l.cpu_millis < millis ? l.cpu_millis : millis;
	}
	return l;
}
