#include "unit/unit.h"

#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "config/set.h"
#include "unit/sys/unit-dir.h"

static char *file(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/sub/config.yaml", path);
	return name;
}

static void assert_content(const char *wanted)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) text = STR_INIT(4096);

	assert_done(file_read(file(), 4000, &text, &err), &err);
	assert_string_equal(str_text(&text), wanted);
}

static void test_makes_the_file(void **unused)
{
	(void)unused;
	auto_error struct error err = ERROR_INIT;
	struct stat st;

	assert_done(set_key(file(), "executors.default", (char *[]){"box"}, 1, &err), &err);
	assert_content("executors:\n  default: box\n");
	assert_int_equal(stat(file(), &st), 0);
	assert_int_equal(st.st_mode & 0777, geteuid() == 0 ? 0644 : 0600);
	assert_int_equal(chmod(file(), 0640), 0);
	assert_done(set_key(file(), "executors.default", NULL, 0, &err), &err);
	assert_content("executors:\n");
	assert_int_equal(stat(file(), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_refuses_as_the_file_would(void **unused)
{
	(void)unused;
	auto_error struct error err = ERROR_INIT;
	char *network[] = {"host"}, *memory[] = {"2gb"};

	assert_done(set_key(file(), "executors.container.id", (char *[]){"box"}, 1, &err), &err);
	assert_int_equal(set_key(file(), "executors.container.network", network, 1, &err), -1);
	assert_int_equal(err.code, ERROR_NETWORK_HOST);
	assert_int_equal(set_key(file(), "executors.limits.max_memory", memory, 1, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG_INVALID);
	json_t *first = json_array_get(json_object_get(err.details, "errors"), 0);
	assert_string_equal(json_get_string(first, "code"), "not_a_size");
	assert_non_null(strstr(error_remedy(&err), "2g"));
	assert_content("executors:\n  container:\n    id: box\n");
}

static void test_wrong_keys(void **unused)
{
	(void)unused;
	auto_error struct error err = ERROR_INIT;
	char *one[] = {"1"};

	assert_int_equal(set_key(file(), "executors.limit", one, 1, &err), -1);
	assert_int_equal(err.code, ERROR_OPTION_UNKNOWN);
	assert_int_equal(set_key(file(), "executors.limits", one, 1, &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
	assert_int_equal(
		set_key(file(), "sandbox.image_policy.cosign_identities", one, 1, &err), -1);
	assert_int_equal(access(file(), F_OK), -1);
	assert_done(set_key(file(), "executors.default", NULL, 0, &err), &err);
	assert_int_equal(access(file(), F_OK), -1);
}

/* One that leads nowhere is no absent file: nothing can be taken out of it. */
static void test_dangling_link(void **unused)
{
	(void)unused;
	auto_error struct error err = ERROR_INIT;
	auto_free char *sub = mem_printf("%s/sub", path);

	assert_int_equal(mkdir(sub, 0700), 0);
	assert_int_equal(symlink("nowhere", file()), 0);
	assert_int_equal(set_key(file(), "executors.default", NULL, 0, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG_UNSAFE);
	assert_int_equal(unlink(file()), 0);
}

/* A key can mend a broken file, and nothing else is accepted meanwhile. */
static void test_broken_file(void **unused)
{
	(void)unused;
	auto_error struct error err = ERROR_INIT;

	assert_int_equal(mkdirat(dir, "sub", 0700), 0);
	assert_done(file_replace_at(dir, "sub/config.yaml", 0600,
			    TEXT("executors: {limits: {max_cpu: -1}}\n"), false, &err),
		&err);
	assert_int_equal(set_key(file(), "executors.default", (char *[]){"a"}, 1, &err), -1);
	assert_int_equal(err.code, ERROR_LIMITS_CONFIGURATION);
	assert_done(set_key(file(), "executors.limits.max_cpu", (char *[]){"2"}, 1, &err), &err);
	assert_content("executors: {limits: {max_cpu: 2}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_makes_the_file),
		IN_DIR(test_refuses_as_the_file_would),
		IN_DIR(test_wrong_keys),
		IN_DIR(test_dangling_link),
		IN_DIR(test_broken_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
