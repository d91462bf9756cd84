#include "unit/sys/unit-dir.h"

#include "base/mem.h"
#include "run/project-file.h"

enum { SOMEBODY = 12345 };

/* As root the project is somebody else's, as it is of a user whose work root runs. */
static int project_setup(void **state)
{
	return dir_setup(state) < 0 || (geteuid() == 0 && chown(path, SOMEBODY, SOMEBODY) < 0) ? -1
											       : 0;
}

static int put(const char *folder, bool make)
{
	auto_error struct error err = ERROR_INIT;
	struct project_file f = {path, folder, "name", make};

	return project_file_write(&f, TEXT("text"), &err);
}

static bool there(const char *folder)
{
	struct project_file f = {path, folder, "name", false};

	return project_file_exists(&f);
}

static void assert_owned(const char *name, mode_t mode)
{
	struct stat st;
	uid_t owner = geteuid() == 0 ? SOMEBODY : geteuid();

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(st.st_uid == owner && (st.st_mode & 07777) == mode);
}

static void test_made(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	mode_t mask = umask(022);

	assert_int_equal(put(NULL, false), 1);
	assert_int_equal(faccessat(dir, ".cloop", F_OK, 0), -1);
	assert_int_equal(project_file_make_folder(path, &err), 0);
	assert_int_equal(project_file_make_folder(path, &err), 0);
	assert_int_equal(put(NULL, false), 0);
	assert_false(there("artifacts"));
	assert_int_equal(put("artifacts", true), 0);
	assert_int_equal(put("artifacts", true), 0);
	assert_true(there("artifacts") && there(NULL));
	assert_owned(".cloop", 0755);
	assert_owned(".cloop/name", 0644);
	assert_owned(".cloop/artifacts", 0755);
	assert_owned(".cloop/artifacts/name", 0644);
	umask(mask);
	assert_int_equal(geteuid(), getuid());
}

/* What he could not write, root does not write for him. */
static void test_no_more_than_his(void **state)
{
	(void)state;

	assert_int_equal(mkdirat(dir, ".cloop", 0755), 0);
	assert_int_equal(put(NULL, false), geteuid() == 0 ? -1 : 0);
	assert_int_equal(faccessat(dir, ".cloop/name", F_OK, 0), geteuid() == 0 ? -1 : 0);
}

static void test_links(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	assert_int_equal(mkdirat(dir, "other", 0777), 0);
	assert_int_equal(fchmodat(dir, "other", 0777, 0), 0);
	assert_int_equal(mkdirat(dir, "other/name", 0755), 0);
	assert_int_equal(mkdirat(dir, ".cloop", 0755), 0);
	assert_int_equal(symlinkat("../other", dir, ".cloop/artifacts"), 0);
	assert_int_equal(symlinkat("/etc/passwd", dir, ".cloop/name"), 0);
	assert_false(there("artifacts") || there(NULL));
	assert_int_equal(unlinkat(dir, ".cloop/artifacts", 0), 0);
	assert_int_equal(unlinkat(dir, ".cloop/name", 0), 0);
	assert_int_equal(unlinkat(dir, ".cloop", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(dir, "other/name", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("other", dir, ".cloop"), 0);
	assert_int_equal(put(NULL, true), -1);
	assert_int_equal(put("artifacts", true), -1);
	assert_int_equal(project_file_make_folder(path, &err), -1);
	assert_int_equal(unlinkat(dir, "other", AT_REMOVEDIR), 0);
}

/* A project inside another's workspace: on the way to it a link was put. */
static void test_link_above(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_free char *inner = mem_printf("%s/way/project", path);
	struct project_file f = {inner, "artifacts", "name", true};

	assert_int_equal(mkdirat(dir, "other", 0755), 0);
	assert_int_equal(mkdirat(dir, "other/project", 0755), 0);
	assert_int_equal(symlinkat("other", dir, "way"), 0);
	assert_int_equal(project_file_write(&f, TEXT("text"), &err), -1);
	assert_int_equal(faccessat(dir, "other/project/.cloop", F_OK, 0), -1);
}

#define IN_PROJECT(f) cmocka_unit_test_setup_teardown(f, project_setup, dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PROJECT(test_made),
		IN_PROJECT(test_no_more_than_his),
		IN_PROJECT(test_links),
		IN_PROJECT(test_link_above),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
