/* Rows of numbers. */
#include "executor/container/options-row.h"

#include "base/num.h"

enum {
	CPUS_MAX = 1024,
	CPU_DECIMALS = 3,
	MEMORY_MB_MIN = 64,
	MEMORY_MB_MAX = 1048576,
	PIDS_MAX = 4194304,
	GROUP_MAX = 2147483647,
};

/* A number that is given is never the mark of an absent key: no row accepts the one beside it. */
OPTIONS_READ(options_number_read)
{
	json_int_t n = json_integer_value(value);

	(void)normal;
	if (!json_is_integer(value))
		return options_wrong_type(row, "an integer", err);
	*(int64_t *)options_field(row, raw) = n == OPTION_ABSENT ? OPTION_ABSENT + 1 : n;
	return 0;
}

OPTIONS_CHECK(options_number_check_range)
{
	int64_t n = *(const int64_t *)options_const_field(row, in);

	if (n == OPTION_ABSENT)
		n = row->unset;
	if (n < row->least || n > row->largest)
		return error_set(err, ERROR_OPTION_OUT_OF_RANGE,
			"option %s: %lld is not from %lld to %lld", row->key, (long long)n,
			(long long)row->least, (long long)row->largest);
	*(int64_t *)options_field(row, out) = n;
	return 0;
}

OPTIONS_CHECK(options_number_check_grace)
{
	int64_t n = *(const int64_t *)options_const_field(row, in);

	(void)err;
	*(int64_t *)options_field(row, out) = n > 0 ? n : row->unset;
	return 0;
}

OPTIONS_CHECK(options_number_check_pids)
{
	int64_t n = in->pids_limit;

	if (n > PIDS_MAX)
		return error_set(err, ERROR_PIDS_INVALID, "option %s: %lld is above %d", row->key,
			(long long)n, PIDS_MAX);
	out->pids_limit = n < 0 ? -1 : n == 0 ? CONTAINER_PIDS_DEFAULT : n;
	return 0;
}

OPTIONS_READ(options_number_read_memory)
{
	json_int_t n = json_integer_value(value);

	(void)normal;
	if (!json_is_integer(value) || n < 0)
		return options_wrong_type(row, "a number of MB", err);
	raw->memory_mb = (uint64_t)n;
	return 0;
}

OPTIONS_CHECK(options_number_check_memory)
{
	uint64_t n = in->memory_mb;

	if (n != 0 && (n < MEMORY_MB_MIN || n > MEMORY_MB_MAX))
		return error_set(err, ERROR_MEMORY_INVALID,
			"option %s: %llu is neither 0 nor from %d to %d", row->key,
			(unsigned long long)n, MEMORY_MB_MIN, MEMORY_MB_MAX);
	out->memory_mb = n;
	return 0;
}

int container_options_cpus(struct text t, uint64_t *ret_millis, struct error *err)
{
	const char *point = t.len ? memchr(t.p, '.', t.len) : NULL;
	size_t decimals = point ? t.len - (size_t)(point + 1 - t.p) : 0;
	uint64_t millis;

	if (decimals > CPU_DECIMALS || num_parse_millis(t, CPUS_MAX * 1000, &millis) != NUM_OK)
		return error_set(err, ERROR_CPUS_INVALID,
			"cpus %s is not a number from 0 to %d with at most %d decimals", quoted(t),
			CPUS_MAX, CPU_DECIMALS);
	*ret_millis = millis;
	return 0;
}

/*
 * A JSON number has no text any more. But thousandths divided by 1000 give the very double that
 * their decimal text reads as, so a number is one of at most 3 decimals iff it comes back.
 */
OPTIONS_READ(options_number_read_cpus)
{
	double cpus = json_number_value(value);

	(void)normal;
	if (json_is_string(value))
		return container_options_cpus(json_text(value), &raw->cpu_millis, err);
	if (!json_is_number(value) || !(cpus >= 0 && cpus <= CPUS_MAX))
		return options_wrong_type(row, "a number from 0 to 1024", err);
	uint64_t millis = (uint64_t)(cpus * 1000 + 0.5);
	double back = (double)millis / 1000;
	if (back < cpus || back > cpus)
		return options_wrong_type(row, "a number of at most 3 decimals", err);
	raw->cpu_millis = millis;
	return 0;
}

OPTIONS_CHECK(options_number_check_cpus)
{
	if (in->cpu_millis > CPUS_MAX * 1000)
		return options_wrong_type(row, "a number from 0 to 1024", err);
	out->cpu_millis = in->cpu_millis;
	return 0;
}

static bool group_of(const json_t *value, uint64_t *ret)
{
	json_int_t n = json_integer_value(value);

	if (json_is_string(value))
		return num_parse(json_text(value), GROUP_MAX, ret) == NUM_OK && *ret >= 1;
	*ret = (uint64_t)n;
	return json_is_integer(value) && n >= 1 && n <= GROUP_MAX;
}

OPTIONS_READ(options_number_read_groups)
{
	size_t n = json_array_size(value);
	uint64_t group;

	(void)normal;
	if (!json_is_array(value) || n > OPTIONS_GROUPS_MAX)
		return options_wrong_type(row, "a list of at most 16 group ids", err);
	for (size_t i = 0; i < n; i++) {
		if (!group_of(json_array_get(value, i), &group))
			return options_wrong_type(
				row, "a list of group ids from 1 to 2147483647", err);
		raw->group_add[i] = (uint32_t)group;
	}
	raw->n_group_add = n;
	return 0;
}

OPTIONS_CHECK(options_number_check_groups)
{
	if (in->n_group_add > OPTIONS_GROUPS_MAX)
		return options_wrong_type(row, "a list of at most 16 group ids", err);
	for (size_t i = 0; i < in->n_group_add; i++)
		if (in->group_add[i] < 1 || in->group_add[i] > GROUP_MAX)
			return options_wrong_type(
				row, "a list of group ids from 1 to 2147483647", err);
	memcpy(out->group_add, in->group_add, sizeof(out->group_add));
	out->n_group_add = in->n_group_add;
	return 0;
}
