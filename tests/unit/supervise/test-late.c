/* One who holds an end of a pipe and writes on and on keeps nothing from its end. */
#include "unit/sys/unit-dir.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "executor/container/supervise/attach-session.h"
#include "executor/container/supervise/supervisor.h"

enum {
	PIPE_MAX = 1 << 20, /* no pipe here holds more */
	MUCH = 64 << 20,    /* what the writer would like to write */
};

/* One who writes again whenever something was read: faster than any reader. */
static int writer = -1;
static size_t written;

static void write_on(void)
{
	static const char bytes[32 << 10] = "a line of no interest\n";
	ssize_t n = writer >= 0 ? 1 : 0;

	for (; n > 0 && written<MUCH; written += n> 0 ? (size_t)n : 0)
		n = write(writer, bytes, sizeof(bytes));
}

ssize_t __real_read(int fd, void *buffer, size_t n);
ssize_t __wrap_read(int fd, void *buffer, size_t n);
ssize_t __wrap_read(int fd, void *buffer, size_t n)
{
	ssize_t got = __real_read(fd, buffer, n);
	int error = errno;

	write_on();
	errno = error;
	return got;
}

ssize_t __wrap___read_chk(int fd, void *buffer, size_t n, size_t max);
ssize_t __wrap___read_chk(int fd, void *buffer, size_t n, size_t max)
{
	assert_true(n <= max);
	return __wrap_read(fd, buffer, n);
}

/* Takes fd, which does not block. */
static void start_writer(int fd)
{
	writer = fd;
	written = 0;
	write_on();
}

/* What it got rid of: two pipes full, that which was read and that which was not. */
static void end_writer(void)
{
	close(TAKE_FD(writer));
	assert_in_range(written, 1, 2 * PIPE_MAX);
}

/* ---- A run's output ---- */

static void open_output(struct output *o, struct loop *l)
{
	auto_error struct error err = ERROR_INIT;
	struct rundir run = {.fd = dir, .path = path};

	assert_done(output_init(o, l, &run, 1, &err), &err);
	assert_done(output_open(o, false, 0, 0, &err), &err);
}

static void test_output(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct loop *l = loop_new(&err);
	struct output o;

	(void)state;
	open_output(&o, l);
	start_writer(openat(dir, "stderr.fifo", O_WRONLY | O_NONBLOCK | O_CLOEXEC));
	output_finish(&o);
	end_writer();
	output_done(&o);
	loop_free(l);
}

/* … and nothing that was in the pipe is missing. */
static void test_output_whole(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct loop *l = loop_new(&err);
	struct output o;

	(void)state;
	open_output(&o, l);
	auto_fd int fd = openat(dir, "stdout.fifo", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	auto_free char *bytes = mem_alloc(PIPE_MAX);
	memset(bytes, 'x', PIPE_MAX);
	ssize_t n = write(fd, bytes, PIPE_MAX);
	assert_true(n > 0);
	output_finish(&o);
	assert_int_equal(log_writer_stats(o.log).bytes, n);
	output_done(&o);
	loop_free(l);
}

static void test_output_take(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) words = STR_INIT(4096);
	struct loop *l = loop_new(&err);
	struct output o;

	(void)state;
	open_output(&o, l);
	start_writer(openat(dir, "stdout.fifo", O_WRONLY | O_NONBLOCK | O_CLOEXEC));
	output_take(&o, 0, &words);
	assert_int_equal(words.len, 4096);
	output_done(&o);
	end_writer();
	loop_free(l);
}

/* ---- A session ---- */

struct bench {
	struct supervisor s;
	struct attach_session *x;
	int client;
};

static void open_bench(struct bench *b)
{
	auto_error struct error err = ERROR_INIT;
	struct attach_request r = {.argc = 1, .argv_len = 2, .argv = "x"};
	int fds[2], ends[2];

	*b = (struct bench){.s = {.init_fd = -1, .mute = true, .phase = PHASE_RUNNING}};
	b->s.loop = loop_new(&err);
	b->s.output.scratch = STR_INIT(SIZE_MAX / 2);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	b->client = fds[0];
	b->x = attach_session_new(&b->s, &r, fds[1], (struct text){"", 0});
	b->x->stage = ATTACH_OPEN;
	b->s.sessions[0] = b->x;
	attach_session_set_output(b->x, 0, ends[0]);
	start_writer(ends[1]);
}

static void close_bench(struct bench *b)
{
	assert_null(b->s.sessions[0]);
	attach_done(&b->s);
	close(b->client);
	str_done(&b->s.output.scratch);
	loop_free(b->s.loop);
}

static void test_session_without_client(void **state)
{
	struct bench b;

	(void)state;
	open_bench(&b);
	attach_session_hang_up(b.x);
	attach_session_over(b.x, 0, -1);
	attach_session_settle(b.x);
	end_writer();
	close_bench(&b);
}

/* The client is told the end, behind what it reads. */
static void test_session_with_client(void **state)
{
	AUTO(str) got = STR_INIT(2 * MUCH);
	char buffer[65536];
	struct bench b;
	ssize_t n = 1;

	(void)state;
	open_bench(&b);
	attach_session_over(b.x, 7, -1);
	while (b.s.sessions[0]) {
		attach_session_settle(b.x);
		while ((n = recv(b.client, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
			str_add(&got, buffer, (size_t)n);
	}
	assert_int_equal(n, 0);
	end_writer();
	assert_non_null(memmem(str_text(&got), got.len, TEXT("\"exit_code\":7").p, 13));
	close_bench(&b);
}

/* ---- A run's proxy ---- */

static void test_proxy(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct supervisor s = {.run = {.fd = dir, .path = path}, .egress = EGRESS_INIT};
	int ends[2];

	(void)state;
	s.loop = loop_new(&err);
	s.record = json_pack("{s:{s:n}}", "egress", "reason");
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	s.egress.owner.events = ends[0];
	start_writer(ends[1]);
	egress_close(&s, "run_ended");
	egress_done(&s);
	end_writer();
	json_decref(s.record);
	loop_free(s.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_output),
		IN_DIR(test_output_whole),
		IN_DIR(test_output_take),
		cmocka_unit_test(test_session_without_client),
		cmocka_unit_test(test_session_with_client),
		IN_DIR(test_proxy),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
