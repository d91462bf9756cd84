/* The floor over filesystems: what is looked at, and who hears of a crossing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "executor/rundir/space-apart.h"
#include "sys/free-space.h"

struct heard {
	unsigned low, high;
	char last[512];
};

static void hear(void *data, bool low, const char *text)
{
	struct heard *h = data;

	*(low ? &h->low : &h->high) += 1;
	snprintf(h->last, sizeof(h->last), "%s", text);
}

static int open_dir(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void test_places(void **state)
{
	auto_fd int root = open_dir("/");
	auto_fd int again = open_dir("/");
	auto_fd int proc = open_dir("/proc");
	const struct space_place places[] = {{-1, "nothing", "/"}, {root, "the workspace", "/"},
		{again, "home", "/"}, {proc, "another", "/proc"}};
	AUTO(space) off = SPACE_INIT;
	AUTO(space) on = SPACE_INIT;

	(void)state;
	space_open(&off, 0, places, ARRAY_SIZE(places));
	assert_int_equal(off.n, 0);
	space_open(&on, 64, places, ARRAY_SIZE(places));
	assert_int_equal(on.n, 2);
	assert_string_equal(on.v[0].whose, "the workspace \"/\"");
	assert_string_equal(on.v[1].whose, "another \"/proc\"");
}

/* /proc has no room at all. */
static void test_crossings(void **state)
{
	auto_fd int proc = open_dir("/proc");
	const struct space_place place = {proc, "the workspace", "/proc"};
	AUTO(space) s = SPACE_INIT;
	struct heard h = {0};

	(void)state;
	space_open(&s, 64, &place, 1);
	assert_false(space_low(&s));
	space_look(&s, hear, &h);
	space_look(&s, hear, &h);
	assert_true(space_low(&s));
	assert_int_equal(h.low, 1);
	assert_non_null(strstr(h.last, "the workspace \"/proc\" has 0 MB free"));

	/* Another process goes on with it: nothing crossed. */
	AUTO(space) next = SPACE_INIT;
	auto_json *low = space_low_list(&s);
	space_open(&next, 64, &place, 1);
	space_restore(&next, low);
	assert_true(space_low(&next));
	space_look(&next, hear, &h);
	assert_int_equal(h.low + h.high, 1);
	space_restore(&next, NULL);
	assert_false(space_low(&next));
	assert_non_null(strstr(h.last, "64 MB (orchestrator.min_free_disk_mb)"));
	assert_int_equal(h.high, 0);
}

static void test_room_again(void **state)
{
	auto_fd int root = open_dir("/");
	const struct space_place place = {root, "the workspace", "/"};
	AUTO(space) s = SPACE_INIT;
	struct heard h = {0};

	(void)state;
	if (free_space_mb(root) < 71)
		skip();
	space_open(&s, 64, &place, 1);
	s.v[0].floor.paused = true;
	space_look(&s, hear, &h);
	assert_false(space_low(&s));
	assert_int_equal(h.high, 1);
	assert_non_null(strstr(h.last, "free again, at least 71 MB"));
}

/* A reading that fails changes nothing. */
static void test_failure(void **state)
{
	auto_fd int proc = open_dir("/proc");
	const struct space_place place = {proc, "the workspace", "/proc"};
	AUTO(space) s = SPACE_INIT;
	struct heard h = {0};

	(void)state;
	space_open(&s, 64, &place, 1);
	s.v[0].floor.paused = true;
	close(s.v[0].fd);
	s.v[0].fd = -1;
	space_look(&s, hear, &h);
	assert_true(space_low(&s) && s.v[0].failed);
	assert_int_equal(h.low + h.high, 0);
}

/* A thread reads the same; one that nobody waits for is let go. */
static void test_apart(void **state)
{
	auto_fd int root = open_dir("/"), proc = open_dir("/proc");
	const struct space_place places[] = {{root, "a", "/"}, {proc, "b", "/proc"}};
	AUTO(space) s = SPACE_INIT;

	(void)state;
	space_open(&s, 1, places, 2);
	assert_true(space_may_block(&s));
	for (int i = 0; i < 50; i++)
		space_apart_end(space_apart_begin(&s));
	struct space_apart *a = space_apart_begin(&s);
	assert_non_null(a);
	struct pollfd p = {.fd = space_apart_fd(a), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_true(space_apart_answer(a)->free_mb[0] > 0);
	assert_int_equal(space_apart_answer(a)->free_mb[1], 0);
	space_apart_end(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_crossings),
		cmocka_unit_test(test_room_again),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
