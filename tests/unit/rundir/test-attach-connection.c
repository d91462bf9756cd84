/* Frames over a socket pair, in whatever pieces (executor/rundir/attach-connection.h). */
#include "unit/unit.h"

#include <sys/socket.h>

#include "base/mem.h"
#include "executor/rundir/attach-connection.h"

struct ends {
	struct attach_connection a, b;
};

static void ends_init(struct ends *e)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	e->a = e->b = ATTACH_CONNECTION_INIT;
	e->a.fd = fds[0];
	e->b.fd = fds[1];
}

static void ends_done(struct ends *e)
{
	attach_connection_done(&e->a);
	attach_connection_done(&e->b);
}

/* Sends and reads until `size` bytes have come. */
static void carry(struct ends *e, size_t size, struct str *ret, size_t *frames)
{
	struct attach_frame f;

	while (ret->len < size) {
		assert_true(attach_connection_flush(&e->a) >= 0);
		if (attach_connection_can_read(&e->b))
			assert_true(attach_connection_read(&e->b));
		while (attach_connection_next(&e->b, &f) == ATTACH_FRAME) {
			assert_int_equal(f.type, ATTACH_OUTPUT);
			str_add(ret, f.data.p, f.data.len);
			(*frames)++;
			attach_connection_take(&e->b);
		}
	}
}

/* More than one frame takes, and more than a socket does. */
static void test_large(void **state)
{
	enum { SIZE = 1000003 };
	__attribute__((cleanup(ends_done))) struct ends e;
	auto_free char *data = mem_alloc(SIZE);
	AUTO(str) got = STR_INIT(2 * SIZE);
	size_t frames = 0;

	(void)state;
	ends_init(&e);
	for (size_t i = 0; i < SIZE; i++)
		data[i] = (char)(i * 31 >> 3);
	attach_connection_add(&e.a, ATTACH_OUTPUT, (struct text){data, SIZE});
	carry(&e, SIZE, &got, &frames);
	assert_int_equal(frames, SIZE / ATTACH_PAYLOAD_MAX + 1);
	assert_int_equal(got.len, SIZE);
	assert_memory_equal(got.data, data, SIZE);
}

static void test_kinds(void **state)
{
	__attribute__((cleanup(ends_done))) struct ends e;
	auto_json *object = json_pack("{s:i}", "exit_code", 7);
	struct attach_frame f;

	(void)state;
	ends_init(&e);
	attach_connection_add(&e.a, ATTACH_EOF, (struct text){"", 0});
	attach_connection_add_size(&e.a, 24, 999);
	attach_connection_add_json(&e.a, ATTACH_EXIT, object);
	assert_int_equal(attach_connection_flush(&e.a), 5 + 9 + 5 + 15);
	assert_true(attach_connection_read(&e.b));
	assert_int_equal(attach_connection_next(&e.b, &f), ATTACH_FRAME);
	assert_int_equal(f.type, ATTACH_EOF);
	attach_connection_take(&e.b);
	assert_int_equal(attach_connection_next(&e.b, &f), ATTACH_FRAME);
	assert_int_equal(f.rows, 24);
	assert_int_equal(f.cols, 999);
	/* Not taken, it comes again. */
	assert_int_equal(attach_connection_next(&e.b, &f), ATTACH_FRAME);
	assert_int_equal(f.type, ATTACH_RESIZE);
	attach_connection_take(&e.b);
	assert_int_equal(attach_connection_next(&e.b, &f), ATTACH_FRAME);
	assert_true(text_is(f.data, "{\"exit_code\":7}"));
	attach_connection_take(&e.b);
	assert_int_equal(attach_connection_next(&e.b, &f), ATTACH_OK);
}

/* A frame of the greatest size fits; while it is not taken nothing more is read, and none is lost.
 */
static void test_full(void **state)
{
	__attribute__((cleanup(ends_done))) struct ends e;
	auto_free char *data = mem_alloc(ATTACH_PAYLOAD_MAX);
	AUTO(str) got = STR_INIT(4 * ATTACH_PAYLOAD_MAX);
	struct attach_frame f;
	size_t frames = 0;

	(void)state;
	ends_init(&e);
	for (unsigned i = 0; i < 3; i++)
		attach_connection_add(&e.a, ATTACH_OUTPUT, (struct text){data, ATTACH_PAYLOAD_MAX});
	for (unsigned i = 0; i < 10; i++) {
		assert_true(attach_connection_flush(&e.a) >= 0);
		assert_true(attach_connection_read(&e.b));
	}
	assert_false(attach_connection_can_read(&e.b));
	assert_int_equal(attach_connection_next(&e.b, &f), ATTACH_FRAME);
	assert_int_equal(f.data.len, ATTACH_PAYLOAD_MAX);
	carry(&e, 3 * ATTACH_PAYLOAD_MAX, &got, &frames);
	assert_int_equal(frames, 3);
}

static void test_gone(void **state)
{
	__attribute__((cleanup(ends_done))) struct ends e;

	(void)state;
	ends_init(&e);
	attach_connection_add(&e.a, ATTACH_OUTPUT, TEXT("last"));
	assert_int_equal(attach_connection_flush(&e.a), 9);
	attach_connection_close(&e.a);
	assert_true(attach_connection_read(&e.b));
	assert_false(attach_connection_read(&e.b));
	attach_connection_add(&e.b, ATTACH_OUTPUT, TEXT("nobody"));
	assert_int_equal(attach_connection_flush(&e.b), -1);
	/* One that is closed takes nothing any more. */
	attach_connection_add(&e.a, ATTACH_OUTPUT, TEXT("nobody"));
	assert_int_equal(attach_connection_waiting(&e.a), 0);
	assert_int_equal(attach_connection_flush(&e.a), 0);
	assert_false(attach_connection_can_read(&e.a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_gone),
	};

	alarm(30);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
