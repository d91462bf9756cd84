#include "unit/unit.h"

#include "schema/value.h"

static void size_advice(void **state)
{
	static const struct {
		const char *text, *advice; /* NULL: nothing can be said */
	} cases[] = {
		{"2gb", "2g"},
		{"2Gi", "2g"},
		{"512MiB", "512m"},
		{"4 g", "4g"},
		{"4 \t GB", "4g"},
		{" 2gb ", "2g"},
		{"1.5g", "1536m"},
		{"1.5 GiB", "1536m"},
		{"0.1k", "1m"},
		{"0.0g", "0m"},
		{"1.0t", "1048576m"},
		{"1025.5m", "1026m"},
		{"1025.0k", "2m"},
		{"1024.00k", "1m"},
		{"0002gb", "2g"},
		{"0.0000000000000000000000001t", "1m"},
		{"9999999999999999999gb", "9999999999999999999g"},
		{"99999999999999999999gb", NULL},
		{"99999999999999999999999999.99tb", NULL},
		{"lots", NULL},
		{"1.5", NULL},
		{"2 bytes", NULL},
		{"2b", NULL},
		{".5g", NULL},
		{"1.g", NULL},
		{"2gbb", NULL},
		{"-2gb", NULL},
		{"+2gb", NULL},
		{"2g b", NULL},
		{"1,5g", NULL},
		{"", NULL},
		{"g", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO(str) out = STR_INIT(64);
		bool found = value_size_advice(text_of(cases[i].text), &out);
		if (found != (cases[i].advice != NULL) ||
			(found && strcmp(str_text(&out), cases[i].advice) != 0))
			fail_msg("%s: %s", cases[i].text, found ? str_text(&out) : "nothing");
	}
}

static void boolean_advice(void **state)
{
	(void)state;
	assert_string_equal(value_boolean_advice(TEXT("YES")), "true");
	assert_string_equal(value_boolean_advice(TEXT("y")), "true");
	assert_string_equal(value_boolean_advice(TEXT("0")), "false");
	assert_string_equal(value_boolean_advice(TEXT("Off")), "false");
	assert_null(value_boolean_advice(TEXT("2")));
	assert_null(value_boolean_advice(TEXT("")));
}

static void signed_numbers(void **state)
{
	int64_t n = 0;

	(void)state;
	assert_int_equal(value_signed(TEXT(" -7 "), &n), PROBLEM_NONE);
	assert_int_equal(n, -7);
	assert_int_equal(value_signed(TEXT("99999999999999999999"), &n), PROBLEM_NONE);
	assert_int_equal(n, INT64_MAX);
	assert_int_equal(value_signed(TEXT("-99999999999999999999"), &n), PROBLEM_NONE);
	assert_int_equal(n, -INT64_MAX);
	assert_int_equal(value_signed(TEXT("-"), &n), PROBLEM_NOT_A_NUMBER);
	assert_int_equal(value_signed(TEXT("--1"), &n), PROBLEM_NOT_A_NUMBER);
	assert_int_equal(value_signed(TEXT("1.0"), &n), PROBLEM_NOT_A_NUMBER);
	assert_int_equal(value_signed(TEXT("  "), &n), PROBLEM_EMPTY);
}

static void too_large_leaves_the_maximum(void **state)
{
	uint64_t n = 0;

	(void)state;
	assert_int_equal(value_cpu(TEXT("1024.0004"), VALUE_CPU_MAX_MILLIS, &n), PROBLEM_NONE);
	assert_int_equal(value_cpu(TEXT("1024.0005"), VALUE_CPU_MAX_MILLIS, &n), PROBLEM_TOO_LARGE);
	assert_int_equal(n, VALUE_CPU_MAX_MILLIS);
	assert_int_equal(value_size(TEXT("2t"), VALUE_SIZE_MAX_MB, &n), PROBLEM_TOO_LARGE);
	assert_int_equal(n, VALUE_SIZE_MAX_MB);
	assert_int_equal(value_integer(TEXT("18446744073709551626"), 65536, &n), PROBLEM_TOO_LARGE);
	assert_int_equal(n, 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(size_advice),
		cmocka_unit_test(boolean_advice),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(too_large_leaves_the_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
