#include "unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/strv.h"
#include "sys/fault.h"
#include "sys/file-list.h"
#include "sys/file.h"
#include "unit/sys/unit-dir.h"

static void touch(int at, const char *name)
{
	auto_fd int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
}

static bool exists(const char *name)
{
	return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_remove(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	assert_int_equal(mkdirat(dir, "t", 0700), 0);
	assert_int_equal(mkdirat(dir, "outside", 0700), 0);
	touch(dir, "outside/kept");
	assert_int_equal(symlinkat("../outside", dir, "t"), -1);
	assert_int_equal(symlinkat("../outside", dir, "t/link"), 0);
	assert_int_equal(mkfifoat(dir, "t/fifo", 0600), 0);
	assert_int_equal(mkdirat(dir, "t/.removed-0", 0700), 0);
	touch(dir, "t/.removed-0/x");
	for (const char *const *d = (const char *const[]){"t/a", "t/a/b", "t/a/b/c", "t/a/b2",
		     "t/a/b/c/d", "t/empty", NULL};
		*d; d++) {
		assert_int_equal(mkdirat(dir, *d, 0700), 0);
	}
	touch(dir, "t/a/b/c/d/file");
	touch(dir, "t/a/b/.removed-1");
	touch(dir, "t/a/b2/file");
	assert_int_equal(symlinkat("../../../outside", dir, "t/a/b/link"), 0);
	assert_done(file_remove_tree_at(dir, "t", &err), &err);
	assert_false(exists("t"));
	assert_true(exists("outside/kept"));
	assert_done(file_remove_tree_at(dir, "t", &err), &err);
	touch(dir, "file");
	assert_done(file_remove_tree_at(dir, "file", &err), &err);
	assert_int_equal(symlinkat("outside", dir, "link"), 0);
	assert_done(file_remove_tree_at(dir, "link", &err), &err);
	assert_true(exists("outside/kept"));
}

/* Deeper than there are descriptors, and longer than PATH_MAX. */
static void test_remove_deep(void **state)
{
	(void)state;
	enum { DEPTH = 300 };
	static const char name[] = "a-name-of-twenty-bytes";
	auto_error struct error err = ERROR_INIT;
	struct rlimit before, few = {.rlim_cur = 32};
	int at = dup(dir);

	for (int i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdirat(at, name, 0700), 0);
		touch(at, "file");
		int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
	getrlimit(RLIMIT_NOFILE, &before);
	few.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	assert_done(file_remove_tree_at(dir, name, &err), &err);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_false(exists(name));
}

static void test_remove_wide(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	assert_int_equal(mkdirat(dir, "wide", 0700), 0);
	for (int i = 0; i < 300; i++) {
		auto_free char *name = mem_printf("wide/%d", i);
		assert_int_equal(mkdirat(dir, name, 0700), 0);
		auto_free char *inner = mem_printf("wide/%d/d", i);
		assert_int_equal(mkdirat(dir, inner, 0700), 0);
		auto_free char *file = mem_printf("wide/%d/d/f", i);
		touch(dir, file);
	}
	assert_done(file_remove_tree_at(dir, "wide", &err), &err);
	assert_false(exists("wide"));
}

/* As an ordinary user, directories without rights do not stop it. */
static void test_remove_without_rights(void **state)
{
	(void)state;
	int status;

	assert_int_equal(fchmod(dir, 0777), 0);
	pid_t pid = fork();
	if (pid == 0) {
		auto_error struct error err = ERROR_INIT;
		if (geteuid() == 0 &&
			(setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0))
			_exit(2);
		if (mkdirat(dir, "t", 0700) < 0 || mkdirat(dir, "t/a", 0700) < 0 ||
			mkdirat(dir, "t/a/b", 0700) < 0 || mkdirat(dir, "t/a/b/c", 0700) < 0 ||
			fchmodat(dir, "t/a/b", 0, 0) < 0 || fchmodat(dir, "t/a", 0500, 0) < 0 ||
			fchmodat(dir, "t", 0, 0) < 0)
			_exit(3);
		_exit(file_remove_tree_at(dir, "t", &err) == 0 ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(exists("t"));
}

static void test_remove_stops_at_mounts(void **state)
{
	(void)state;
	int status;

	assert_int_equal(mkdirat(dir, "t", 0700), 0);
	assert_int_equal(mkdirat(dir, "t/m", 0700), 0);
	pid_t pid = fork();
	if (pid == 0) {
		auto_error struct error err = ERROR_INIT;
		auto_free char *where = mem_printf("%s/t/m", path);
		if (unshare(CLONE_NEWNS) < 0 ||
			mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
			mount("tmpfs", where, "tmpfs", 0, NULL) < 0)
			_exit(77);
		_exit(file_remove_tree_at(dir, "t", &err) < 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static void test_make_dirs(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_free char *deep = mem_printf("%s/x//y/z/", path);
	auto_free char *below_file = mem_printf("%s/f/y", path);
	auto_free char *through_link = mem_printf("%s/link/n", path);
	auto_free char *dangling = mem_printf("%s/dangling", path);
	struct stat st;
	mode_t before = umask(077);

	assert_int_equal(mkdirat(dir, "x", 0700), 0);
	assert_done(file_make_dirs(deep, 0755, &err), &err);
	umask(before);
	assert_true(fstatat(dir, "x", &st, 0) == 0 && (st.st_mode & 0777) == 0700);
	assert_true(fstatat(dir, "x/y", &st, 0) == 0 && (st.st_mode & 0777) == 0755);
	assert_true(fstatat(dir, "x/y/z", &st, 0) == 0 && (st.st_mode & 0777) == 0755);
	assert_done(file_make_dirs(deep, 0700, &err), &err);
	assert_done(file_make_dirs("/", 0700, &err), &err);
	touch(dir, "f");
	assert_int_equal(file_make_dirs(below_file, 0700, &err), -1);
	assert_true(error_is(&err, ERROR_IO));
	assert_int_equal(symlinkat("x", dir, "link"), 0);
	assert_done(file_make_dirs(through_link, 0700, &err), &err);
	assert_true(exists("x/n"));
	assert_int_equal(symlinkat("nothing", dir, "dangling"), 0);
	assert_int_equal(file_make_dirs(dangling, 0700, &err), -1);
	fault_arm("file-dirs");
	assert_int_equal(file_make_dirs(deep, 0700, &err), -1);
	fault_arm(NULL);
}

static void test_list(void **state)
{
	(void)state;
	AUTO(strv) found = STRV_INIT(2);
	AUTO(strv) none = STRV_INIT(2);

	touch(dir, "lock-b");
	touch(dir, "lock-a");
	touch(dir, "loc");
	for (int i = 0; i < 2; i++) {
		strv_done(&found);
		found = STRV_INIT(2);
		file_list_at(dir, "lock-", &found);
		strv_sort(&found);
		assert_int_equal(found.n, 2);
		assert_string_equal(found.v[0], "lock-a");
		assert_string_equal(found.v[1], "lock-b");
	}
	touch(dir, "lock-c");
	file_list_at(dir, "lock-", &none);
	assert_int_equal(none.n, 2);
	strv_done(&none);
	none = STRV_INIT(2);
	file_list_at(-1, "", &none);
	assert_int_equal(none.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_remove), IN_DIR(test_remove_deep),
		IN_DIR(test_remove_wide), IN_DIR(test_remove_without_rights),
		IN_DIR(test_remove_stops_at_mounts), IN_DIR(test_make_dirs), IN_DIR(test_list)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
