#include "unit/unit.h"

#include "spec/mount-path.h"

static void reserved_targets(void **state)
{
	static const struct {
		const char *path;
		bool reserved;
	} cases[] = {
		{"/", true},
		{"/workspace", true},
		{"/workspace/x", false},
		{"/workspacex", false},
		{"/tmp", true},
		{"/tmp/x", false},
		{"/proc", true},
		{"/proc/x", true},
		{"/procx", false},
		{"/run", true},
		{"/run/x", false},
		{"/run/cloop", true},
		{"/run/cloopx", false},
		{"/run/secrets/x", true},
		{"/var", false},
		{"/var/run", true},
		{"/var/run/x", false},
		{"/var/run/cloop/x", true},
		{"/var/runx", false},
		{"/var/run/podman-init", true},
		{"/var/workspace", false},
		{"/var/run/.containerenv/x", true},
		{"/.dockerenv/x", true},
		{"/sbin", true},
		{"/sbin/docker-init", true},
		{"/sbin/x", false},
		{"/usr/local", true},
		{"/usr/local/bin/cloop/x", true},
		{"/usr/local/bin/cloopx", false},
		{"/etc", true},
		{"/etc/hosts", true},
		{"/etc/hosts.d", false},
		{"/home", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (mount_path_reserved(text_of(cases[i].path)) != cases[i].reserved)
			fail_msg("%s", cases[i].path);
}

static void below_is_by_components(void **state)
{
	(void)state;
	assert_true(mount_path_below(TEXT("/a/b"), TEXT("/a")));
	assert_false(mount_path_below(TEXT("/ab"), TEXT("/a")));
	assert_false(mount_path_below(TEXT("/a"), TEXT("/a")));
	assert_false(mount_path_below(TEXT("/a"), TEXT("/a/b")));
	assert_true(mount_path_below(TEXT("/a"), TEXT("/")));
	assert_false(mount_path_below(TEXT("/"), TEXT("/")));
}

static void clean_forms(void **state)
{
	static const struct {
		const char *path, *clean;
	} cases[] = {{"a//b/", "a/b"}, {"./a", "a"}, {"//x", "/x"}, {"/x/./y/", "/x/y"},
		{"/.", "/"}, {"./", "."}, {"a./.b", "a./.b"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO(str) out = STR_INIT(MOUNT_PATH_MAX);
		mount_path_clean(text_of(cases[i].path), &out);
		assert_string_equal(str_text(&out), cases[i].clean);
	}
}

/* The first rule wins, in the order of the table. */
static void order_of_source_rules(void **state)
{
	static const struct {
		struct text path;
		enum problem_code fault;
	} cases[] = {
		{{"/a:\\..\t", 7}, PROBLEM_CONTROL_CHARACTER},
		{{"/a:\\..", 6}, PROBLEM_COLON},
		{{"/a\\..", 5}, PROBLEM_BACKSLASH},
		{{"/a/..", 5}, PROBLEM_ABSOLUTE_PATH},
		{{"a//..", 5}, PROBLEM_DOTDOT},
		{{".", 1}, PROBLEM_WORKSPACE_ROOT},
		{{"a/.", 3}, PROBLEM_NOT_CLEAN},
		{{"a\0b", 3}, PROBLEM_CONTROL_CHARACTER},
		{{"..a/b..", 7}, PROBLEM_NONE},
		{{"...", 3}, PROBLEM_NONE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(mount_path_source_fault(cases[i].path), cases[i].fault);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserved_targets),
		cmocka_unit_test(below_is_by_components),
		cmocka_unit_test(clean_forms),
		cmocka_unit_test(order_of_source_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
