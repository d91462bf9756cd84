#include "unit/unit.h"

#include "sys/mount-line.h"

static void test_parse(void **state)
{
	(void)state;
	static const struct {
		const char *line, *target, *type, *super; /* target NULL: refused */
	} rows[] = {
		{"36 35 98:0 / /a rw,noatime - ext4 /dev/root rw", "/a", "ext4", "rw"},
		{"36 35 98:0 /x /a rw shared:1 master:2 - tmpfs none rw,size=1k", "/a", "tmpfs",
			"rw,size=1k"},
		{"36 35 98:0 / /a\\040b rw - tmpfs tmp\\040fs ro", "/a\\040b", "tmpfs", "ro"},
		{"36 35 98:0 / /- rw - tmpfs none rw", "/-", "tmpfs", "rw"},
		{"36 35 98:0 / /a rw - fuse  rw", "/a", "fuse", "rw"},
		{"18446744073709551615 1 0:1 / / rw - a b c", "/", "a", "c"},
		{"18446744073709551616 1 0:1 / / rw - a b c", NULL, NULL, NULL},
		{"x 35 98:0 / /a rw - ext4 /dev/root rw", NULL, NULL, NULL},
		{"36 35 98:0 / /a rw ext4 /dev/root rw", NULL, NULL, NULL},
		{"36 35 98:0 / /a rw - ext4 /dev/root", NULL, NULL, NULL},
		{"36 35 98:0 / /a", NULL, NULL, NULL},
		{"short line", NULL, NULL, NULL},
		{"", NULL, NULL, NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mount_line m;
		bool ok = mount_line_parse(text_of(rows[i].line), &m);
		if (ok != (rows[i].target != NULL))
			fail_msg("%s", rows[i].line);
		if (ok && !(text_is(m.target, rows[i].target) && text_is(m.type, rows[i].type) &&
				  text_is(m.super, rows[i].super)))
			fail_msg("%s", rows[i].line);
	}
}

static void test_next(void **state)
{
	(void)state;
	struct text rest = TEXT("short\n1 0 0:1 / /a rw - t s o\n\n2 0 0:1 / /b rw - t s o");
	struct mount_line m;

	assert_true(mount_line_next(&rest, &m) && m.id == 1);
	assert_true(mount_line_next(&rest, &m) && m.id == 2);
	assert_false(mount_line_next(&rest, &m));
}

static void test_unescape(void **state)
{
	(void)state;
	static const struct {
		const char *field, *plain;
	} rows[] = {{"", ""}, {"/a", "/a"}, {"a\\040b\\011\\012\\134", "a b\t\n\\"}, {"\\", "\\"},
		{"\\04", "\\04"}, {"\\049", "\\049"}, {"\\400", "\\400"}, {"\\377", "\xff"},
		{"\\\\040", "\\ "}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO(str) out = STR_INIT(100);
		mount_line_unescape(&out, text_of(rows[i].field));
		assert_string_equal(str_text(&out), rows[i].plain);
	}
}

static void test_has(void **state)
{
	(void)state;
	assert_true(mount_line_has(TEXT("rw,cpu,cpuacct"), "cpu"));
	assert_true(mount_line_has(TEXT("rw,cpu,cpuacct"), "cpuacct"));
	assert_false(mount_line_has(TEXT("rw,cpuset"), "cpu"));
	assert_false(mount_line_has(TEXT(""), "cpu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse),
		cmocka_unit_test(test_next), cmocka_unit_test(test_unescape),
		cmocka_unit_test(test_has)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
