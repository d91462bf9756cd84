#include "unit/unit.h"

#include "base/json.h"
#include "limits/ceiling.h"

static const struct {
	enum resource resource;
	const char *text;
	uint64_t value;
	const char *fault;
} parses[] = {
	{RESOURCE_CPU, "0", 0, NULL},
	{RESOURCE_CPU, " 1.5\n", 1500, NULL},
	{RESOURCE_CPU, "1024", 1024000, NULL},
	{RESOURCE_CPU, "1024.001", 0, "too_large"},
	{RESOURCE_CPU, "-1", 0, "negative"},
	{RESOURCE_CPU, "2g", 0, "not_a_number"},
	{RESOURCE_CPU, "", 0, "empty"},
	{RESOURCE_CPU, "1.00000000000000000000000000000001", 0, "too_long"},
	{RESOURCE_MEMORY, "64m", 64, NULL},
	{RESOURCE_MEMORY, "63m", 0, "below_minimum"},
	{RESOURCE_MEMORY, "1b", 0, "below_minimum"},
	{RESOURCE_MEMORY, "1t", 1 << 20, NULL},
	{RESOURCE_MEMORY, "1025g", 0, "too_large"},
	{RESOURCE_DISK, "2gb", 0, "not_a_size"},
	{RESOURCE_DISK, "-1m", 0, "negative"},
	{RESOURCE_PIDS, "65536", 65536, NULL},
	{RESOURCE_PIDS, "65537", 0, "too_large"},
	{RESOURCE_PIDS, "1.5", 0, "not_a_number"},
};

static void test_parse(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(parses); i++) {
		auto_error struct error err = ERROR_INIT;
		uint64_t value = UINT64_MAX;
		int done = ceiling_parse(parses[i].resource, text_of(parses[i].text), &value, &err);

		if (!parses[i].fault) {
			assert_done(done, &err);
			assert_int_equal(value, parses[i].value);
			continue;
		}
		assert_int_equal(done, -1);
		assert_int_equal(err.code, ERROR_LIMITS_CONFIGURATION);
		assert_string_equal(json_get_string(err.details, "rule"), parses[i].fault);
		assert_int_equal(value, UINT64_MAX);
	}
}

static void test_advice(void **unused)
{
	static const struct {
		enum resource resource;
		const char *text, *advice;
	} rows[] = {
		{RESOURCE_DISK, "1.5g", "write 1536m"},
		{RESOURCE_MEMORY, "2 GiB", "write 2g"},
		{RESOURCE_MEMORY, "lots", "0, or 64m to 1t (a number alone is MB)"},
		{RESOURCE_MEMORY, "63m", "0, or 64m to 1t (a number alone is MB)"},
		{RESOURCE_PIDS, "2gb", "0 to 65536 processes"},
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		uint64_t value;
		assert_int_equal(
			ceiling_parse(rows[i].resource, text_of(rows[i].text), &value, &err), -1);
		assert_string_equal(error_remedy(&err), rows[i].advice);
	}
}

static const struct {
	enum resource resource;
	uint64_t value;
} out_of_range[] = {
	{RESOURCE_CPU, CEILING_CPU_MAX + 1},
	{RESOURCE_MEMORY, CEILING_MB_MIN - 1},
	{RESOURCE_MEMORY, CEILING_MB_MAX + 1},
	{RESOURCE_DISK, CEILING_MB_MIN - 1},
	{RESOURCE_DISK, CEILING_MB_MAX + 1},
	{RESOURCE_PIDS, CEILING_PIDS_MAX + 1},
	{RESOURCE_PIDS, UINT64_MAX},
};

static void test_check(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	struct limits good = {1024000, 64, 65536, 1 << 20}, none = {0};

	(void)unused;
	assert_done(ceiling_check(&good, "fleet ceiling", &err), &err);
	assert_done(ceiling_check(&none, "fleet ceiling", &err), &err);
	for (size_t i = 0; i < ARRAY_SIZE(out_of_range); i++) {
		enum resource r = out_of_range[i].resource;
		struct limits bad = {0};
		resource_set(&bad, r, out_of_range[i].value);
		assert_int_equal(ceiling_check(&bad, "project ceiling", &err), -1);
		assert_int_equal(err.code, ERROR_LIMITS_CONFIGURATION);
		assert_non_null(strstr(err.message, resource_member(r)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
