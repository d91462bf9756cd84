/* The list of a log's segments (linked with --wrap=readdir64: what is made while it is read). */
#include <dirent.h>

#include "unit/sys/unit-dir.h"

#include "executor/runlog/log-segment.h"

static bool to_make;

static void make(uint64_t seq)
{
	char name[LOG_SEGMENT_NAME_SIZE];

	log_segment_name(seq, name);
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
}

struct dirent *__real_readdir64(DIR *d);
struct dirent *__wrap_readdir64(DIR *d);
/* Two segments are made when a listing is nearly over; it is past the place of the first one. */
struct dirent *__wrap_readdir64(DIR *d)
{
	static struct dirent late;
	struct dirent *e = __real_readdir64(d);

	if (e || !to_make)
		return e;
	to_make = false;
	make(30);
	make(40);
	log_segment_name(40, late.d_name);
	return &late;
}

static void expect_list(const uint64_t *expect, size_t n_expect)
{
	auto_error struct error err = ERROR_INIT;
	auto_free uint64_t *list = NULL;
	size_t n;

	assert_done(log_segment_list(dir, &list, &n, &err), &err);
	assert_int_equal(n, n_expect);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(list[i], expect[i]);
}

static void test_no_hole(void **state)
{
	(void)state;
	make(20);
	make(10);
	to_make = true;
	expect_list((uint64_t[]){10, 20, 30, 40}, 4);
	assert_false(to_make);
	expect_list((uint64_t[]){10, 20, 30, 40}, 4);
}

static void test_none(void **state)
{
	(void)state;
	expect_list(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_no_hole),
		IN_DIR(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
