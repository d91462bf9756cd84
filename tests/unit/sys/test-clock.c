#include "unit/unit.h"

#include "sys/clock.h"
#include "sys/env.h"

static void test_format(void **state)
{
	(void)state;
	static const struct {
		int64_t ns;
		const char *text, *precise;
	} rows[] = {
		{0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000000Z"},
		{1, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000001Z"},
		{-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999999999Z"},
		{1787458071000000000, "2026-08-23T04:07:51Z", "2026-08-23T04:07:51.000000000Z"},
		{1709210096123456789, "2024-02-29T12:34:56Z", "2024-02-29T12:34:56.123456789Z"},
		{INT64_MAX, "2262-04-11T23:47:16Z", "2262-04-11T23:47:16.854775807Z"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char out[CLOCK_TEXT_SIZE];
		clock_format(rows[i].ns, out);
		assert_string_equal(out, rows[i].text);
		clock_format_ns(rows[i].ns, out);
		assert_string_equal(out, rows[i].precise);
	}
}

static void test_clocks_move_forward(void **state)
{
	(void)state;
	int64_t ms = clock_boottime_ms(), us = clock_boottime_us();

	clock_sleep_ms(12);
	assert_true(clock_boottime_ms() - ms >= 12);
	assert_true(clock_boottime_us() - us >= 12000);
	assert_true(clock_realtime_ns() > INT64_C(1500000000) * 1000000000);
	clock_sleep_ms(-1);
}

static void test_boot_id(void **state)
{
	(void)state;
	assert_int_equal(strlen(clock_boot_id()), 36);
	assert_ptr_equal(clock_boot_id(), clock_boot_id());
}

static void test_env(void **state)
{
	(void)state;
	setenv("CLOOP_UNIT", "x", 1);
	assert_string_equal(env_get("CLOOP_UNIT"), "x");
	setenv("CLOOP_UNIT", "", 1);
	assert_null(env_get("CLOOP_UNIT"));
	unsetenv("CLOOP_UNIT");
	assert_null(env_get("CLOOP_UNIT"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_clocks_move_forward),
		cmocka_unit_test(test_boot_id),
		cmocka_unit_test(test_env),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
