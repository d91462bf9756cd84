/* Making mount sources in a project whose owner renames what is in it at any moment. */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

#include "executor/container/supervise/make-source.h"

static int workspace = -1;
static const char *other; /* takes the place of what is made next */

int __real_mkdirat(int at, const char *name, mode_t mode);
int __wrap_mkdirat(int at, const char *name, mode_t mode);
int __wrap_mkdirat(int at, const char *name, mode_t mode)
{
	int r = __real_mkdirat(at, name, mode);

	if (r < 0 || !other)
		return r;
	assert_int_equal(renameat2(at, other, at, name, RENAME_EXCHANGE), 0);
	other = NULL;
	return 0;
}

/* A project of a user that is not us, as far as we may. */
static int setup(void **state)
{
	if (dir_setup(state) < 0)
		return -1;
	workspace = dup(dir);
	return geteuid() == 0 ? fchown(workspace, 65534, 65534) : 0;
}

static int teardown(void **state)
{
	close(TAKE_FD(workspace));
	return dir_teardown(state);
}

static uid_t owner_of(const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st.st_uid;
}

static void test_made(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct stat st, held;

	(void)state;
	assert_int_equal(mkdirat(dir, "there", 0700), 0);
	for (unsigned i = 0; i < 2; i++) {
		auto_fd int fd = -1;
		assert_done(make_source(workspace, "there/a/b", &fd, &err), &err);
		assert_int_equal(fstatat(dir, "there/a/b", &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_int_equal(fstat(fd, &held), 0);
		assert_int_equal(st.st_ino, held.st_ino);
	}
	assert_int_equal(owner_of("there"), geteuid());
	assert_int_equal(owner_of("there/a"), geteuid() == 0 ? 65534 : geteuid());
	assert_int_equal(owner_of("there/a/b"), geteuid() == 0 ? 65534 : geteuid());
}

/* A directory of ours that lies there, with something in it, does not become the owner's. */
static void test_replaced(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int fd = -1;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(dir, "ours", 0700), 0);
	assert_int_equal(mkdirat(dir, "ours/kept", 0700), 0);
	other = "ours";
	assert_done(make_source(workspace, "made", &fd, &err), &err);
	assert_int_equal(owner_of("ours"), 65534);
	assert_int_equal(owner_of("made"), 0);
	assert_int_equal(owner_of("made/kept"), 0);
}

/* … also where the project's owner may make nothing, and another may. */
static void test_replaced_by_another(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int fd = -1;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(dir, "there", 0755), 0);
	assert_int_equal(mkdirat(dir, "there/ours", 0755), 0);
	assert_int_equal(mkdirat(dir, "there/ours/kept", 0755), 0);
	other = "ours";
	assert_int_equal(make_source(workspace, "there/made", &fd, &err), -1);
	assert_int_equal(err.code, ERROR_MOUNT_CHANGED);
	assert_int_equal(owner_of("there/made"), 0);
}

#define IN_PROJECT(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {IN_PROJECT(test_made), IN_PROJECT(test_replaced),
		IN_PROJECT(test_replaced_by_another)};

	return cmocka_run_group_tests_name("make-source", tests, NULL, NULL);
}
