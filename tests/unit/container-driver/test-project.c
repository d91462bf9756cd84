/* The project of a run, below a folder of somebody else, who changes it at any moment. */
#include "unit/sys/unit-dir.h"

#include "executor/container/driver/project.h"
#include "sys/file.h"

/* Its owner, as soon as a path was resolved, puts a link to `outside` in the place of `folder`. */
static char *folder, *outside;

char *__real_realpath(const char *path_given, char *resolved);
char *__wrap_realpath(const char *path_given, char *resolved);
char *__wrap_realpath(const char *path_given, char *resolved)
{
	char *got = __real_realpath(path_given, resolved);

	if (!folder)
		return got;
	assert_int_equal(renameat(dir, folder, dir, "gone"), 0);
	assert_int_equal(symlinkat(outside, dir, folder), 0);
	folder = NULL;
	return got;
}

static void make_dirs(void)
{
	static const char *const names[] = {"a", "a/p", "b", "b/p"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(mkdirat(dir, names[i], 0755), 0);
}

static void test_open(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(project) p = PROJECT_INIT;
	struct runtime runtime = {.rootless = true};
	struct stat there, held;
	char name[64];

	(void)state;
	make_dirs();
	assert_int_equal(symlinkat("a", dir, "link"), 0);
	snprintf(name, sizeof(name), "%s/link/p", path);
	assert_done(project_open(name, &runtime, &p, &err), &err);
	assert_int_equal(fstatat(dir, "a/p", &there, 0), 0);
	assert_int_equal(fstat(p.fd, &held), 0);
	assert_true(file_same(&there, &held));
}

static void test_swapped(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(project) p = PROJECT_INIT;
	struct runtime runtime = {.rootless = true};
	char name[64];

	(void)state;
	make_dirs();
	snprintf(name, sizeof(name), "%s/a/p", path);
	folder = "a";
	outside = "b";
	assert_int_equal(project_open(name, &runtime, &p, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_A_PROJECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_open), IN_DIR(test_swapped)};

	return cmocka_run_group_tests_name("project", tests, NULL, NULL);
}
