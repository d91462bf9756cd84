#include "unit/unit.h"

#include <errno.h>

#include "base/str.h"
#include "sys/clock.h"
#include "sys/loop.h"

/* What happened, a letter per event. */
static char trace[64];

static void note(char c)
{
	size_t n = strlen(trace);

	assert_true(n + 1 < sizeof(trace));
	trace[n] = c;
}

static struct loop *l;
static int ends[2][2];
static struct loop_source *sources[2];

static int setup(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	memset(trace, 0, sizeof(trace));
	sources[0] = sources[1] = NULL;
	l = loop_new(&err);
	return l && pipe2(ends[0], O_CLOEXEC | O_NONBLOCK) == 0 &&
			       pipe2(ends[1], O_CLOEXEC | O_NONBLOCK) == 0
		       ? 0
		       : -1;
}

static int teardown(void **state)
{
	(void)state;
	loop_free(l);
	for (size_t i = 0; i < 2; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
	return 0;
}

static void run(void)
{
	auto_error struct error err = ERROR_INIT;

	assert_done(loop_run(l, &err), &err);
}

static void on_note(void *data)
{
	note(*(char *)data);
}

static struct loop_source *after(int64_t ms, char *letter)
{
	return loop_at(l, clock_boottime_ms() + ms, on_note, letter);
}

static void test_empty(void **state)
{
	(void)state;
	run();
	loop_remove(NULL);
	loop_free(NULL);
}

static void test_timers_in_order(void **state)
{
	(void)state;
	int64_t now = clock_boottime_ms();

	assert_non_null(after(30, "c"));
	assert_non_null(after(10, "a"));
	struct loop_source *gone = after(15, "x");
	assert_non_null(loop_at(l, now + 20, on_note, "b"));
	assert_non_null(loop_at(l, now + 20, on_note, "B"));
	assert_non_null(loop_at(l, 0, on_note, "0"));
	assert_non_null(loop_at(l, -5, on_note, "-"));
	loop_remove(gone);
	run();
	assert_string_equal(trace, "-0abBc");
	assert_true(clock_boottime_ms() - now >= 30);
	run();
}

static void on_again(void *data)
{
	unsigned *left = data;

	note('t');
	if (--*left > 0)
		assert_non_null(loop_at(l, 0, on_again, data));
}

static void on_readable(void *data, uint32_t events)
{
	const int *fd = data;
	char c;

	assert_true(events & (EPOLLIN | EPOLLHUP));
	ssize_t n = read(*fd, &c, 1);
	if (n == 1)
		note(c);
	if (n == 0)
		loop_remove(sources[0]);
}

/* A timer that sets itself anew in the past does not keep descriptors from being heard. */
static void test_no_starvation(void **state)
{
	(void)state;
	unsigned left = 5;

	assert_int_equal(write(ends[0][1], "12", 2), 2);
	close(TAKE_FD(ends[0][1]));
	sources[0] = loop_watch(l, ends[0][0], EPOLLIN, on_readable, &ends[0][0]);
	assert_non_null(sources[0]);
	assert_non_null(loop_at(l, 0, on_again, &left));
	run();
	assert_string_equal(trace, "1t2tttt");
}

static void on_remove_both(void *data, uint32_t events)
{
	(void)data;
	(void)events;
	note('r');
	loop_remove(sources[0]);
	loop_remove(sources[1]);
}

/* Both are ready in one batch; the first removes the second, and itself. */
static void test_remove_in_batch(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(write(ends[i][1], "x", 1), 1);
		sources[i] = loop_watch(l, ends[i][0], EPOLLIN, on_remove_both, NULL);
		assert_non_null(sources[i]);
	}
	run();
	assert_string_equal(trace, "r");
}

static void on_remove_timer(void *data)
{
	note('r');
	loop_remove(*(struct loop_source **)data);
	assert_non_null(after(0, "n"));
}

static void test_timer_removes_timer(void **state)
{
	(void)state;
	struct loop_source *second;

	assert_non_null(loop_at(l, 1, on_remove_timer, &second));
	second = loop_at(l, 2, on_note, "x");
	assert_non_null(loop_at(l, 3, on_note, "y"));
	run();
	assert_string_equal(trace, "ryn");
}

static void on_stop(void *data)
{
	note('s');
	loop_stop(data);
}

static void test_stop(void **state)
{
	(void)state;
	assert_non_null(loop_at(l, 1, on_stop, l));
	assert_non_null(loop_at(l, 2, on_note, "a"));
	run();
	assert_string_equal(trace, "s");
	run();
	assert_string_equal(trace, "sa");
	assert_non_null(loop_at(l, 2, on_note, "b"));
	loop_stop(l);
	run();
	assert_string_equal(trace, "sa");
	run();
	assert_string_equal(trace, "sab");
}

static void on_listen_again(void *data)
{
	(void)data;
	note('+');
	loop_change(sources[0], EPOLLIN);
}

static void on_last(void *data, uint32_t events)
{
	on_readable(data, events);
	loop_stop(l);
}

/* What is not listened to is not told of, until it is. */
static void test_change(void **state)
{
	(void)state;
	assert_int_equal(write(ends[0][1], "1", 1), 1);
	sources[0] = loop_watch(l, ends[0][0], EPOLLIN, on_last, &ends[0][0]);
	assert_non_null(sources[0]);
	loop_change(sources[0], 0);
	assert_non_null(loop_at(l, clock_boottime_ms() + 20, on_listen_again, NULL));
	assert_non_null(loop_at(l, clock_boottime_ms() + 60000, on_stop, l));
	run();
	assert_string_equal(trace, "+1");
}

static void test_cannot_watch(void **state)
{
	(void)state;
	auto_fd int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	assert_null(loop_watch(l, file, EPOLLIN, on_readable, NULL));
	assert_int_equal(errno, EPERM);
	assert_null(loop_watch(l, -1, EPOLLIN, on_readable, NULL));
	run();
}

/* More ready descriptors than one batch holds. */
static void test_many(void **state)
{
	(void)state;
	int fds[40];
	struct loop_source *many[40];

	assert_int_equal(write(ends[0][1], "0123456789012345678901234567890123456789", 40), 40);
	for (size_t i = 0; i < 40; i++) {
		fds[i] = dup(ends[0][0]);
		many[i] = loop_watch(l, fds[i], EPOLLIN, on_readable, &ends[0][0]);
		assert_non_null(many[i]);
	}
	assert_non_null(loop_at(l, clock_boottime_ms() + 20, on_stop, l));
	run();
	assert_int_equal(strlen(trace), 41);
	for (size_t i = 0; i < 40; i++) {
		loop_remove(many[i]);
		close(fds[i]);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {T(test_empty), T(test_timers_in_order),
		T(test_no_starvation), T(test_remove_in_batch), T(test_timer_removes_timer),
		T(test_stop), T(test_change), T(test_cannot_watch), T(test_many)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
