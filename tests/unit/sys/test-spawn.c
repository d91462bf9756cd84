#include "unit/unit-fds.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/spawn.h"

#define SHELL(script) ((char *const[]){"sh", "-c", script, NULL})

static const struct capture plain = {
	.stdout_max = 65536, .stderr_max = 65536, .timeout_ms = 20000, .cancel_fd = -1};

/* The output of a script; caller frees. */
static char *output(struct spawn s, const char *script)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) c = {0};
	char *argv[] = {"sh", "-c", mem_strdup(script), NULL};

	s.path = "/bin/sh";
	s.argv = argv;
	assert_done(spawn_capture(&s, &plain, &c, &err), &err);
	free(argv[2]);
	if (c.status != 0)
		fail_msg("%s: status %d: %s", script, c.status, str_text(&c.err));
	return str_take(&c.out);
}

static void test_nothing_inherited(void **state)
{
	(void)state;
	int leak = open("/dev/null", O_RDONLY), high = fcntl(leak, F_DUPFD, 200);
	sigset_t blocked;

	setenv("CLOOP_LEAK", "1", 1);
	sigfillset(&blocked);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_IGN);
	auto_free char *fds = output((struct spawn){0}, "cd /proc/self/fd; echo *");
	auto_free char *env = output((struct spawn){0}, "tr '\\0' '\\n' < /proc/self/environ");
	auto_free char *cwd = output((struct spawn){0}, "/bin/pwd; readlink /proc/self/fd/0");
	auto_free char *masks = output((struct spawn){0},
		"while read -r key value; do case $key in Sig[BI]*) echo $value;; esac; done "
		"< /proc/self/status");
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_DFL);
	close(leak);
	close(high);
	/* 3 is the shell's own, on the directory it lists. */
	assert_string_equal(fds, "0 1 2 3\n");
	assert_string_equal(env, "");
	assert_string_equal(cwd, "/\n/dev/null\n");
	assert_string_equal(masks, "0000000000000000\n0000000000000000\n");
}

static void test_given(void **state)
{
	(void)state;
	char *const env[] = {"A=1", "B=", NULL};
	struct spawn s = {.env = env, .cwd = "/usr"};
	auto_free char *got = output(s, "echo $A ${B-unset} ${C-unset}; pwd");

	assert_string_equal(got, "1 unset\n/usr\n");
}

/* Crossed, equal and far numbers, and one descriptor under two numbers. */
static void test_descriptors(void **state)
{
	(void)state;
	int a[2], b[2];

	assert_int_equal(pipe2(a, O_CLOEXEC), 0);
	assert_int_equal(pipe2(b, O_CLOEXEC), 0);
	assert_int_equal(write(a[1], "a\n", 2), 2);
	assert_int_equal(write(b[1], "b\n", 2), 2);
	close(a[1]);
	close(b[1]);
	int low = fcntl(a[0], F_DUPFD_CLOEXEC, 3), high = fcntl(b[0], F_DUPFD_CLOEXEC, 4);
	struct spawn s = {.fds = {{low, high}, {high, low}}, .n_fds = 2};
	auto_free char *script = mem_printf("cat <&%d; cat <&%d", low, high);
	auto_free char *crossed = output(s, script);
	assert_string_equal(crossed, "b\na\n");
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	s = (struct spawn){.fds = {{null, null}, {null, 40}, {null, 0}}, .n_fds = 3};
	auto_free char *list = output(s, "cd /proc/self/fd; for i in *; do readlink $i; done | "
					 "grep -c null; echo *");
	auto_free char *expected = mem_printf("3\n0 1 10 2 %d 40\n", null);
	if (null < 10)
		assert_non_null(strstr(list, "40"));
	assert_int_equal(list[0], expected[0]);
	close(low);
	close(high);
	close(a[0]);
	close(b[0]);
	close(null);
}

static void test_cannot_execute(void **state)
{
	(void)state;
	static const struct {
		const char *path, *cwd, *words;
	} rows[] = {
		{"/nonexistent/program", NULL, "No such file"},
		{"/etc/passwd", NULL, "Permission denied"},
		{"/usr", NULL, "Permission denied"},
		{"/bin/sh", "/nonexistent", "No such file"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(captured) c = {0};
		AUTO(child) child = CHILD_INIT;
		char *const argv[] = {"x", NULL};
		struct spawn s = {.path = rows[i].path, .argv = argv, .cwd = rows[i].cwd};
		assert_int_equal(spawn_start(&s, &child, &err), -1);
		assert_int_equal(child.pid, -1);
		assert_true(error_is(&err, ERROR_IO));
		assert_non_null(strstr(err.message, rows[i].path));
		assert_non_null(strstr(err.message, rows[i].words));
		assert_int_equal(spawn_capture(&s, &plain, &c, &err), -1);
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_status(void **state)
{
	(void)state;
	static const struct {
		const char *script;
		int status;
	} rows[] = {{"exit 0", 0}, {"exit 7", 7 << 8}, {"exit 127", 127 << 8},
		{"kill -9 $$", SIGKILL}, {"kill -TERM $$", SIGTERM}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(captured) c = {0};
		auto_free char *script = mem_strdup(rows[i].script);
		struct spawn s = {.path = "/bin/sh", .argv = SHELL(script)};
		assert_done(spawn_capture(&s, &plain, &c, &err), &err);
		assert_int_equal(c.status & ~0x80, rows[i].status);
	}
}

static void test_child(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(child) c = CHILD_INIT;
	int status = -1, ends[2];
	char ready;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	struct spawn s = {.path = "/bin/sh",
		.argv = SHELL("sleep 60 & echo; wait"),
		.new_session = true,
		.fds = {{ends[1], 1}},
		.n_fds = 1};
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	assert_done(spawn_start(&s, &c, &err), &err);
	assert_int_equal(read(ends[0], &ready, 1), 1);
	assert_int_equal(getsid(c.pid), c.pid);
	assert_int_equal(fcntl(c.pidfd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(child_try_wait(&c, &status, &err), 1);
	pid_t group = c.pid;
	child_kill(&c);
	assert_done(child_wait(&c, &status, &err), &err);
	assert_int_equal(status, SIGKILL);
	assert_int_equal(c.pid, -1);
	assert_int_equal(c.pidfd, -1);
	child_kill(&c);
	/* The sleep too, which is ours now. */
	assert_true(waitpid(-group, &status, 0) > 0);
	assert_int_equal(status, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	close(ends[0]);
	close(ends[1]);
}

static void test_child_of_our_session(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(child) c = CHILD_INIT;
	int status = -1;
	struct spawn s = {.path = "/bin/sleep", .argv = (char *const[]){"sleep", "60", NULL}};

	assert_done(spawn_start(&s, &c, &err), &err);
	child_kill(&c);
	struct pollfd p = {.fd = c.pidfd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_done(child_try_wait(&c, &status, &err), &err);
	assert_int_equal(status, SIGKILL);
	/* child_done() alone kills and collects. */
	assert_done(spawn_start(&s, &c, &err), &err);
	child_done(&c);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_caps(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) c = {0};
	struct capture how = plain;
	struct spawn s = {.path = "/bin/sh",
		.argv = SHELL("head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2; echo x")};

	how.stdout_max = 1 << 20;
	how.stderr_max = 0;
	assert_done(spawn_capture(&s, &how, &c, &err), &err);
	assert_int_equal(c.status, 0);
	assert_int_equal(c.out.len, 1 << 20);
	assert_int_equal(c.err.len, 0);
	assert_false(c.timed_out || c.cancelled);
}

static void test_timeout(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) c = {0};
	struct capture how = plain;
	struct spawn s = {.path = "/bin/sh", .argv = SHELL("echo begun; sleep 60 | cat")};
	int64_t before = clock_boottime_ms();

	how.timeout_ms = 200;
	assert_done(spawn_capture(&s, &how, &c, &err), &err);
	int64_t took = clock_boottime_ms() - before;
	assert_true(took >= 200 && took < 5000);
	assert_true(c.timed_out && !c.cancelled);
	assert_int_equal(c.status, SIGKILL);
	assert_string_equal(str_text(&c.out), "begun\n");
}

static void test_cancel(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) c = {0};
	struct capture how = plain;
	struct spawn s = {.path = "/bin/sh", .argv = SHELL("sleep 60")};
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	how.cancel_fd = ends[0];
	how.timeout_ms = 0;
	assert_done(spawn_capture(&s, &how, &c, &err), &err);
	assert_true(c.cancelled && !c.timed_out);
	assert_int_equal(c.status, SIGKILL);
	close(ends[0]);
	close(ends[1]);
}

/* A grandchild that holds the pipes does not hold the call, even if it never stops writing. */
static void test_grandchild(void **state)
{
	(void)state;
	static const char *const scripts[] = {
		"setsid sleep 5 & echo done; echo $!",
		"setsid sh -c 'while :; do echo y 2>/dev/null || exit; done' & sleep 0.1; exit 0",
	};
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(captured) c = {0};
		auto_free char *script = mem_strdup(scripts[i]);
		struct spawn s = {.path = "/bin/sh", .argv = SHELL(script)};
		int64_t before = clock_boottime_ms();
		assert_done(spawn_capture(&s, &plain, &c, &err), &err);
		assert_true(clock_boottime_ms() - before < 2000);
		assert_int_equal(c.status, 0);
		assert_true(c.out.len > 0);
	}
}

static bool answer_hook(void *data, const struct spawn *s, struct captured *answer)
{
	unsigned *calls = data;

	if (++*calls % 2 == 0)
		return false;
	str_addf(&answer->out, "answered %s", s->argv[0]);
	str_add_text(&answer->err, "words");
	answer->status = 3 << 8;
	return true;
}

static void test_hook(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(captured) c = {0};
	AUTO(captured) real = {0};
	AUTO(child) child = CHILD_INIT;
	struct capture how = plain;
	struct spawn s = {.path = "/bin/echo", .argv = (char *const[]){"echo", "real", NULL}};
	unsigned calls = 0;
	int status = -1, ends[2];
	char buf[32] = "";

	how.stderr_max = 2;
	spawn_set_hook(answer_hook, &calls);
	assert_done(spawn_capture(&s, &how, &c, &err), &err);
	assert_string_equal(str_text(&c.out), "answered echo");
	assert_string_equal(str_text(&c.err), "wo");
	assert_int_equal(c.status, 3 << 8);
	assert_done(spawn_capture(&s, &how, &real, &err), &err);
	assert_string_equal(str_text(&real.out), "real\n");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	s.fds[s.n_fds++] = (struct spawn_fd){ends[1], 1};
	assert_done(spawn_start(&s, &child, &err), &err);
	child_kill(&child);
	struct pollfd p = {.fd = child.pidfd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_done(child_try_wait(&child, &status, &err), &err);
	assert_int_equal(status, 3 << 8);
	assert_int_equal(read(ends[0], buf, sizeof(buf) - 1), strlen("answered echo"));
	assert_string_equal(buf, "answered echo");
	close(ends[0]);
	close(ends[1]);
	spawn_set_hook(NULL, NULL);
}

static void test_fault(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct spawn s = {.path = "/bin/true", .argv = (char *const[]){"true", NULL}};

	fault_arm("spawn:2");
	for (int i = 1; i <= 3; i++) {
		AUTO(captured) c = {0};
		assert_int_equal(spawn_capture(&s, &plain, &c, &err), i == 2 ? -1 : 0);
	}
	assert_true(error_is(&err, ERROR_IO));
}

/* No test leaves a descriptor or a child behind. */
static int check_left(void **state)
{
	return unit_fds_check(state) == 0 && waitpid(-1, NULL, WNOHANG) < 0 ? 0 : -1;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, unit_fds_note, check_left)
	const struct CMUnitTest tests[] = {T(test_nothing_inherited), T(test_given),
		T(test_descriptors), T(test_cannot_execute), T(test_status), T(test_child),
		T(test_child_of_our_session), T(test_caps), T(test_timeout), T(test_cancel),
		T(test_grandchild), T(test_hook), T(test_fault)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
