#include "unit/unit.h"

#include <errno.h>
#include <dirent.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "sys/fault.h"
#include "sys/file.h"
#include "unit/sys/unit-dir.h"

static int make(const char *name, const char *bytes, size_t n)
{
	auto_error struct error err = ERROR_INIT;
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_done(file_write_all(fd, bytes, n, &err), &err);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void test_read_bounds(void **state)
{
	(void)state;
	static const struct {
		size_t size, max, got;
		int result;
	} rows[] = {
		{0, 0, 0, 0},
		{0, 10, 0, 0},
		{1, 0, 0, 1},
		{9, 10, 9, 0},
		{10, 10, 10, 0},
		{11, 10, 10, 1},
		{4096, 4096, 4096, 0},
		{4097, 4096, 4096, 1},
		{100000, 65536, 65536, 1},
		{100000, 1 << 20, 100000, 0},
	};
	auto_free char *bytes = mem_alloc(100000);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(str) got = STR_INIT(3);
		auto_free char *file = mem_printf("%s/f", path);
		auto_fd int fd = make("f", bytes, rows[i].size);
		str_add_text(&got, "old");
		assert_int_equal(file_read_fd(fd, rows[i].max, &got, &err), rows[i].result);
		assert_int_equal(got.len, rows[i].got);
		assert_int_equal(file_read_at(dir, "f", rows[i].max, &got), rows[i].result);
		assert_int_equal(got.len, rows[i].got);
		assert_int_equal(file_read(file, rows[i].max, &got, &err), rows[i].result ? -1 : 0);
	}
}

static void test_read_errors(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(str) got = STR_INIT(0);

	assert_int_equal(file_read("/nonexistent/x", 10, &got, &err), -1);
	assert_true(error_is(&err, ERROR_IO));
	assert_non_null(strstr(err.message, "/nonexistent/x"));
	assert_int_equal(file_read_fd(dir, 10, &got, &err), -1);
	assert_int_equal(file_read_at(dir, "nothing", 10, &got), -1);
	assert_int_equal(errno, ENOENT);
}

static void test_read_proc(void **state)
{
	(void)state;
	auto_fd int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO(str) got = STR_INIT(0);

	assert_int_equal(file_read_at(proc, "mountinfo", 1 << 20, &got), 0);
	assert_true(got.len > 0);
}

static void assert_content(const char *name, const char *expected, mode_t mode)
{
	AUTO(str) got = STR_INIT(0);
	struct stat st;

	assert_int_equal(file_read_at(dir, name, 1000, &got), 0);
	assert_string_equal(str_text(&got), expected);
	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | mode);
}

/* No temporary file is left whatever happens. */
static void assert_entries(int expected)
{
	struct dirent **list = NULL;
	int n = scandir(path, &list, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	assert_int_equal(n - 2, expected);
}

static void test_replace(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	mode_t before = umask(077);

	assert_done(file_replace_at(dir, "a", 0644, TEXT("one"), false, &err), &err);
	assert_content("a", "one", 0644);
	assert_done(file_replace_at(dir, "a", 0600, TEXT(""), true, &err), &err);
	assert_content("a", "", 0600);
	umask(before);
	/* A link is replaced, not followed. */
	assert_int_equal(symlinkat("a", dir, "link"), 0);
	assert_done(file_replace_at(dir, "link", 0600, TEXT("two"), true, &err), &err);
	assert_content("link", "two", 0600);
	assert_content("a", "", 0600);
	assert_entries(2);
}

static void test_create(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	static const char *const points[] = {"file-write", "file-replace"};

	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		fault_arm(points[i]);
		assert_int_equal(file_create_at(dir, "a", 0644, TEXT("one"), &err), -1);
		assert_true(error_is(&err, ERROR_IO));
		assert_entries(0);
		error_clear(&err);
	}
	fault_arm(NULL);
	assert_done(file_create_at(dir, "a", 0640, TEXT("one"), &err), &err);
	assert_content("a", "one", 0640);
	assert_int_equal(file_create_at(dir, "a", 0644, TEXT("two"), &err), 1);
	assert_content("a", "one", 0640);
	assert_int_equal(symlinkat("nowhere", dir, "link"), 0);
	assert_int_equal(file_create_at(dir, "link", 0644, TEXT("two"), &err), 1);
	assert_entries(2);
	assert_int_equal(file_create_at(dir, "no/a", 0644, TEXT("two"), &err), -1);
}

static void test_replace_faults(void **state)
{
	(void)state;
	static const char *const points[] = {"file-write", "file-replace"};
	auto_error struct error err = ERROR_INIT;

	assert_done(file_replace_at(dir, "a", 0600, TEXT("old"), true, &err), &err);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++) {
		fault_arm(points[i]);
		assert_int_equal(file_replace_at(dir, "a", 0600, TEXT("new"), true, &err), -1);
		assert_true(error_is(&err, ERROR_IO));
		assert_content("a", "old", 0600);
		assert_entries(1);
	}
	fault_arm(NULL);
	assert_int_equal(mkdirat(dir, "d", 0700), 0);
	assert_int_equal(file_replace_at(dir, "d", 0600, TEXT("new"), true, &err), -1);
	assert_int_equal(file_replace_at(dir, "no/d", 0600, TEXT("new"), true, &err), -1);
	assert_entries(2);
}

static void test_open_folder(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_free char *parent = file_fd_path(dir);
	struct stat st;

	assert_int_equal(file_open_folder(parent, "f", false, &err), -1);
	assert_true(error_is(&err, ERROR_IO));
	auto_fd int made = file_open_folder(parent, "f", true, &err);
	assert_true(made >= 0 && fstat(made, &st) == 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	auto_fd int found = file_open_folder(parent, "f", false, &err);
	assert_true(found >= 0);
	assert_int_equal(symlinkat("f", dir, "link"), 0);
	assert_int_equal(file_open_folder(parent, "link", true, &err), -1);
}

static void test_memfd(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(str) got = STR_INIT(0);
	auto_fd int fd = file_memfd("secret", TEXT("a\0b"), &err);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_done(file_read_fd(fd, 10, &got, &err), &err);
	assert_int_equal(got.len, 3);
	assert_memory_equal(got.data, "a\0b", 3);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, 0), -1);
	fault_arm("file-memfd");
	assert_int_equal(file_memfd("secret", TEXT("x"), &err), -1);
	fault_arm(NULL);
}

static void test_facts(void **state)
{
	(void)state;
	auto_fd int shm = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free char *where = file_fd_path(dir);
	auto_free char *through = mem_printf("%s/../%s/.", path, path + strlen("/tmp/"));
	auto_free char *resolved = file_resolve(through);
	auto_free char *missing = file_resolve("/nonexistent");
	struct stat a, b;

	assert_string_equal(where, path);
	assert_string_equal(resolved, path);
	assert_null(missing);
	assert_null(file_fd_path(-1));
	assert_int_equal(file_on_tmpfs(shm), 1);
	assert_int_equal(file_on_tmpfs(proc), 0);
	assert_int_equal(file_on_tmpfs(-1), -1);
	assert_int_equal(file_on_noexec(-1), -1);
	assert_true(fstat(dir, &a) == 0 && fstat(shm, &b) == 0);
	assert_true(file_same(&a, &a));
	assert_false(file_same(&a, &b));
}

static void test_write_errors(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_int_equal(file_write_all(full, "x", 1, &err), -1);
	assert_done(file_write_all(full, "", 0, &err), &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_read_bounds), IN_DIR(test_read_errors),
		IN_DIR(test_read_proc), IN_DIR(test_replace), IN_DIR(test_create),
		IN_DIR(test_replace_faults), IN_DIR(test_open_folder), IN_DIR(test_memfd),
		IN_DIR(test_facts), IN_DIR(test_write_errors)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
