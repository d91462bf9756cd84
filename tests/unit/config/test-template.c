#include "unit/unit.h"

#include "config/template.h"

static void test_render(void **unused)
{
	const struct template_entry entries[] = {
		{"executors.default", (char *[]){"container", NULL}, "Where runs go."},
		{"executors.container.runtime", (char *[]){"podman", NULL},
			"podman 4.3.1\nrootless"},
		{"executors.container.extra_args",
			(char *[]){"--dns=10.0.0.1", "--cap-drop=ALL", NULL}, NULL},
		{"executors.container.memory", NULL, NULL},
		{"executors.limits.max_pids", (char *[]){"2048", NULL}, "No more."},
		{"orchestrator.min_free_disk_mb", (char *[]){"1024", NULL}, NULL},
	};
	auto_error struct error err = ERROR_INIT;
	AUTO(str) out = STR_INIT(1 << 16);

	(void)unused;
	assert_done(template_render("cloop", entries, ARRAY_SIZE(entries), &out, &err), &err);
	assert_string_equal(str_text(&out),
		"# cloop\n"
		"executors:\n"
		"  # Where runs go.\n"
		"  default: container\n"
		"  container:\n"
		"    # podman 4.3.1\n"
		"    # rootless\n"
		"    runtime: podman\n"
		"    extra_args: [\"--dns=10.0.0.1\", \"--cap-drop=ALL\"]\n"
		"    # memory: 0\n"
		"  limits:\n"
		"    # No more.\n"
		"    max_pids: 2048\n"
		"orchestrator:\n"
		"  min_free_disk_mb: 1024\n");
}

static void test_judged(void **unused)
{
	const struct template_entry bad_key[] = {{"executors.x", (char *[]){"1", NULL}, NULL}};
	const struct template_entry bad_value[] = {
		{"executors.container.network", (char *[]){"host", NULL}, NULL}};
	auto_error struct error err = ERROR_INIT;
	AUTO(str) out = STR_INIT(1 << 16);

	(void)unused;
	assert_int_equal(template_render(NULL, bad_key, 1, &out, &err), -1);
	assert_int_equal(err.code, ERROR_OPTION_UNKNOWN);
	str_reset(&out);
	assert_int_equal(template_render(NULL, bad_value, 1, &out, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_render),
		cmocka_unit_test(test_judged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
