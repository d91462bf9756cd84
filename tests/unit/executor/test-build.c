#include "unit/unit.h"

#include "executor/build.h"

/* Oldest first; neighbours on one line are equal in age. */
static const char *const ages[][2] = {
	{"", "v1.2"},
	{"v0.0.0", "v0.0.0"},
	{"v0.0.9", "v0.0.9"},
	{"v0.0.10", "v0.0.10"},
	{"v1.9.9", "v1.9.9"},
	{"v1.10.0", "v1.10.0"},
	{"v2.0.0", "v2.0.0"},
	{"v99999999999999999999999.0.0", "v99999999999999999999999.0.0"},
};

static void test_order(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(ages); i++) {
		assert_int_equal(build_compare(text_of(ages[i][0]), text_of(ages[i][1])), 0);
		for (size_t k = i + 1; k < ARRAY_SIZE(ages); k++) {
			assert_true(build_compare(text_of(ages[i][0]), text_of(ages[k][0])) < 0);
			assert_true(build_compare(text_of(ages[k][1]), text_of(ages[i][1])) > 0);
		}
	}
}

static void test_not_a_build(void **unused)
{
	static const char *const bad[] = {"1.2.3", "V1.2.3", "v1.2.3.4", "v1.2.3-rc1", "v01.2.3",
		"v1..3", "v1.2.", " v1.2.3", "v1.2.3 ", "v-1.2.3", "v", "dev"};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(build_valid(text_of(bad[i])));
	assert_false(build_valid(TEXT("v1.2.3\0")));
	assert_true(build_valid(TEXT("v0.10.200")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_not_a_build),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
