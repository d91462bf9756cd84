#include "unit/unit.h"

#include "base/path.h"

static void test_in_two(void **state)
{
	static const struct {
		const char *path, *parent, *name;
	} cases[] = {
		{"a", ".", "a"},
		{"a/b", "a", "b"},
		{"/a/b/c", "/a/b", "c"},
		{"/a", "/", "a"},
		{"a/", "a", ""},
		{"", ".", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		auto_free char *parent = path_parent(cases[i].path);
		assert_string_equal(parent, cases[i].parent);
		assert_string_equal(path_name(cases[i].path), cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_two)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
