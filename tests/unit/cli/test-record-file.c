/* The file of --record in a folder of somebody else, who changes it at any moment. */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

#include "cli/record-file.h"

static bool swaps;

/* Its owner, as soon as it was looked at. */
static void swap(const struct stat *st)
{
	if (!swaps || !S_ISFIFO(st->st_mode))
		return;
	swaps = false;
	assert_int_equal(unlinkat(dir, "record", 0), 0);
	assert_int_equal(symlinkat("victim", dir, "record"), 0);
}

#define WATCHED(name, type) \
	int __real_##name(type, struct stat *); \
	int __wrap_##name(type, struct stat *); \
	int __wrap_##name(type what, struct stat *st) \
	{ \
		int r = __real_##name(what, st); \
		if (r == 0) \
			swap(st); \
		return r; \
	}
WATCHED(lstat, const char *)
WATCHED(lstat64, const char *)
WATCHED(fstat, int)
WATCHED(fstat64, int)

static void test_fifo(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(record_file) f = RECORD_FILE_INIT;
	AUTO(str) got = STR_INIT(64);
	char name[64], buffer[8];

	(void)state;
	snprintf(name, sizeof(name), "%s/record", path);
	assert_int_equal(mkfifoat(dir, "record", 0600), 0);
	auto_fd int reader = openat(dir, "record", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	auto_fd int victim = openat(dir, "victim", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(reader >= 0 && victim >= 0);
	swaps = true;
	assert_done(record_file_open(name, &f, &err), &err);
	assert_false(swaps);
	assert_done(record_file_write(&f, TEXT("{}\n"), &err), &err);
	assert_int_equal(file_read_at(dir, "victim", 64, &got), 0);
	assert_int_equal(got.len, 0);
	assert_int_equal(read(reader, buffer, sizeof(buffer)), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_fifo)};

	return cmocka_run_group_tests_name("record-file", tests, NULL, NULL);
}
