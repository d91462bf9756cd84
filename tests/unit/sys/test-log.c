#include "unit/unit.h"

#include "base/mem.h"
#include "sys/log.h"

static int ends[2] = {-1, -1};

static int setup(void **state)
{
	(void)state;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	log_set_fd(ends[1]);
	log_open("cloop", LOG_LEVEL_INFO);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_set_fd(STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* What was written since the last call. */
static const char *written(void)
{
	static char buf[65536];
	ssize_t n = read(ends[0], buf, sizeof(buf) - 1);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static void test_lines(void **state)
{
	(void)state;
	log_warning("disk %d%%", 97);
	assert_string_equal(written(), "cloop: warning: disk 97%\n");
	log_error("no");
	log_info("yes");
	log_debug("not seen");
	assert_string_equal(written(), "cloop: error: no\ncloop: info: yes\n");
	log_open("cloop-shim", LOG_LEVEL_ERROR);
	log_warning("not seen");
	log_error("a\nb\x1b[1m\xff \xc3\xa4");
	assert_string_equal(written(), "cloop-shim: error: a\\x0ab\\x1b[1m\\xff \xc3\xa4\n");
	log_set_fd(-1);
	log_error("dropped");
	assert_string_equal(written(), "");
}

static void test_bound(void **state)
{
	(void)state;
	auto_free char *text = mem_alloc(10000);

	for (size_t i = 0; i + 2 < 10000; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	log_error("%s", text);
	const char *line = written();
	assert_true(strlen(line) <= 2048 && strlen(line) >= 2045);
	assert_int_equal(line[strlen(line) - 1], '\n');
	assert_true(utf8_valid(text_of(line)));
	memset(text, '\n', 9999);
	log_error("%s", text);
	assert_int_equal(strlen(written()), 2048);
}

static void test_rate(void **state)
{
	(void)state;
	for (int i = 0; i < 12; i++)
		log_error("again");
	const char *first = written();
	size_t lines = 0;
	for (const char *p = first; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 5);
	log_error("other");
	assert_string_equal(written(), "cloop: error: (7 repeated lines left out) other\n");
	log_error("third");
	assert_string_equal(written(), "cloop: error: third\n");
	/* Many different texts in between push the oldest out of memory, never out of bounds. */
	for (int i = 0; i < 100; i++)
		log_error("number %d", i);
	assert_true(strlen(written()) > 1000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {T(test_lines), T(test_bound), T(test_rate)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
