#include "unit/unit.h"

#include "executor/container/readback.h"

static void what_is_held_in_effect(void **state)
{
	static const struct readback_level levels[] = {
		{.memory = {"2147483648", 10}, .cpu = {"max 100000", 10}, .pids = {"513\n", 4}},
		{.memory = {"1073741824", 10}, .cpu = {"150000 100000", 13}, .pids = {"max", 3}},
		{.memory = {"max", 3}, .cpu = {"400000 100000", 13}},
	};
	const struct readback r = {.version = 2, .levels = levels, .n_levels = 3};
	struct limits l = readback_effective(&r);

	(void)state;
	assert_int_equal(l.memory_mb, 1024);
	assert_int_equal(l.cpu_millis, 1500);
	assert_int_equal(l.pids, 512);
}

static void nothing_is_held(void **state)
{
	const struct readback r = {.version = 1};
	struct limits l = readback_effective(&r);

	(void)state;
	assert_int_equal(l.memory_mb, 0);
	assert_int_equal(l.cpu_millis, 0);
	assert_int_equal(l.pids, 0);
}

static void swap_without_a_file(void **state)
{
	static const struct readback_level level = {.memory = {"1048576", 7}};
	struct readback r = {.version = 2, .levels = &level, .n_levels = 1};
	const struct argv_limits asked = {.memory_mb = 1, .pids = -1};
	auto_error struct error err = ERROR_INIT;

	(void)state;
	assert_done(readback_check(&r, &asked, &err), &err);
	r.swap_on = true;
	assert_int_equal(readback_check(&r, &asked, &err), -1);
	assert_int_equal(err.code, ERROR_LIMITS_NOT_APPLIED);
	assert_non_null(strstr(err.message, "swap"));
}

/* Numbers that would wrap are judged as what they are. */
static void large_numbers(void **state)
{
	static const struct readback_level level = {
		.memory = {"18446744073709551616", 20},
		.cpu = {"18446744073709551615 1", 22},
		.pids = {"99999999999999999999999999", 26},
	};
	const struct readback r = {.version = 2, .levels = &level, .n_levels = 1};
	const struct argv_limits asked = {.cpu_millis = 1000, .memory_mb = 1, .pids = 5};
	auto_error struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(readback_check(&r, &asked, &err), -1);
	assert_int_equal(json_array_size(json_object_get(err.details, "resources")), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_held_in_effect),
		cmocka_unit_test(nothing_is_held),
		cmocka_unit_test(swap_without_a_file),
		cmocka_unit_test(large_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
