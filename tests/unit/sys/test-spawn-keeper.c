/* Children behind a keeper, in a process that ignores SIGCHLD, or takes every child there is. */
#include "unit/unit-fds.h"

#include <inttypes.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "sys/clock.h"
#include "sys/descendants.h"
#include "sys/spawn-keeper.h"

#define SELF "/proc/self/exe"
enum { FIND_MS = 30000 };

static const struct capture plain = {
	.stdout_max = 65536, .stderr_max = 65536, .timeout_ms = 60000, .cancel_fd = -1};

static int run(char *script, struct captured *ret)
{
	auto_error struct error err = ERROR_INIT;
	char *argv[] = {"sh", "-c", script, NULL};
	struct spawn s = {.path = "/bin/sh", .argv = argv};

	int r = spawn_capture(&s, &plain, ret, &err);
	if (r < 0)
		print_message("%s\n", err.message);
	return r;
}

static void check_statuses(void)
{
	AUTO(captured) exited = {0};
	AUTO(captured) killed = {0};

	assert_int_equal(run("echo out; echo err >&2; exit 7", &exited), 0);
	assert_true(WIFEXITED(exited.status));
	assert_int_equal(WEXITSTATUS(exited.status), 7);
	assert_string_equal(str_text(&exited.out), "out\n");
	assert_string_equal(str_text(&exited.err), "err\n");
	assert_int_equal(run("kill -TERM $$", &killed), 0);
	assert_true(WIFSIGNALED(killed.status));
	assert_int_equal(WTERMSIG(killed.status), SIGTERM);
}

static void test_default(void **state)
{
	(void)state;
	check_statuses();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_ignored(void **state)
{
	(void)state;
	signal(SIGCHLD, SIG_IGN);
	check_statuses();
	signal(SIGCHLD, SIG_DFL);
}

static void take_all(int signal)
{
	int saved = errno;

	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	errno = saved;
}

static void test_taken(void **state)
{
	struct sigaction action = {.sa_handler = take_all, .sa_flags = SA_RESTART};

	(void)state;
	sigaction(SIGCHLD, &action, NULL);
	check_statuses();
	signal(SIGCHLD, SIG_DFL);
}

static void test_cannot_execute(void **state)
{
	auto_error struct error err = ERROR_INIT;
	char *argv[] = {"none", NULL};
	struct spawn s = {.path = "/nonexistent/program", .argv = argv};
	AUTO(child) c = CHILD_INIT;

	(void)state;
	assert_int_equal(spawn_start(&s, &c, &err), -1);
	assert_non_null(strstr(err.message, "/nonexistent/program"));
	assert_non_null(strstr(err.message, strerror(ENOENT)));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_cancel_ends_the_group(void **state)
{
	auto_error struct error err = ERROR_INIT;
	char *argv[] = {"sh", "-c", "sleep 1000 & echo $!; echo now >&5; wait", NULL};
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	struct spawn s = {.path = "/bin/sh", .argv = argv, .fds = {{ends[1], 5}}, .n_fds = 1};
	struct capture how = plain;
	AUTO(captured) c = {0};
	how.cancel_fd = ends[0];
	assert_done(spawn_capture(&s, &how, &c, &err), &err);
	close(ends[0]);
	close(ends[1]);
	assert_true(c.cancelled);
	pid_t sleeper = (pid_t)strtoimax(str_text(&c.out), NULL, 10);
	assert_true(sleeper > 1);
	int64_t until = clock_boottime_ms() + FIND_MS;
	while (kill(sleeper, 0) == 0 && clock_boottime_ms() < until)
		clock_sleep_ms(5);
	assert_true(kill(sleeper, 0) < 0);
}

/* Nobody's child, with a session of its own; its pidfd tells the end. */
static void test_detached(void **state)
{
	auto_error struct error err = ERROR_INIT;
	char *argv[] = {"sh", "-c", "read line; exit 3", NULL};
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	struct spawn s = {.path = "/bin/sh",
		.argv = argv,
		.new_session = true,
		.detached = true,
		.fds = {{ends[0], 0}},
		.n_fds = 1};
	struct child c = CHILD_INIT;
	assert_done(spawn_start(&s, &c, &err), &err);
	assert_int_equal(c.pid, -1);
	struct pollfd p = {.fd = c.pidfd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(poll(&p, 1, FIND_MS), 1);
	child_done(&c);
}

/* What the child leaves behind is below its keeper, until it was waited for. */
static void test_orphans(void **state)
{
	auto_error struct error err = ERROR_INIT;
	char *argv[] = {"sh", "-c", "(setsid sleep 1000 & ) ; exit 4", NULL};
	struct spawn s = {.path = "/bin/sh", .argv = argv, .new_session = true, .orphans = true};
	struct child c = CHILD_INIT;
	struct descendants below = DESCENDANTS_INIT;
	int status;

	(void)state;
	assert_done(spawn_start(&s, &c, &err), &err);
	struct pollfd p = {.fd = c.pidfd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, FIND_MS), 1);
	int64_t until = clock_boottime_ms() + FIND_MS;
	while ((descendants_find(c.pid, &below), below.n != 1) && clock_boottime_ms() < until)
		clock_sleep_ms(5);
	assert_int_equal(below.n, 1);
	assert_int_equal(below.v[0].parent, c.pid);
	descendant_kill(&below.v[0]);
	while ((descendants_find(c.pid, &below), below.n != 0) && clock_boottime_ms() < until)
		clock_sleep_ms(5);
	assert_int_equal(below.n, 0);
	descendants_done(&below);
	assert_done(child_wait(&c, &status, &err), &err);
	assert_int_equal(WEXITSTATUS(status), 4);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_given_descriptors(void **state)
{
	auto_error struct error err = ERROR_INIT;
	char *argv[] = {"sh", "-c", "cat <&5; cd /proc/self/fd; echo *", NULL};
	AUTO(captured) c = {0};
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "five\n", 5), 5);
	close(ends[1]);
	struct spawn s = {.path = "/bin/sh", .argv = argv, .fds = {{ends[0], 5}}, .n_fds = 1};
	assert_done(spawn_capture(&s, &plain, &c, &err), &err);
	close(ends[0]);
	assert_string_equal(str_text(&c.out), "five\n0 1 2 3 5\n");
}

int main(int argc, char **argv)
{
#define T(f) cmocka_unit_test_setup_teardown(f, unit_fds_note, unit_fds_check)
	const struct CMUnitTest tests[] = {T(test_default), T(test_ignored), T(test_taken),
		T(test_cannot_execute), T(test_cancel_ends_the_group), T(test_detached),
		T(test_given_descriptors), T(test_orphans)};

	if (argc > 1 && strcmp(argv[1], "--keep") == 0)
		return spawn_keeper_main(argv + 2);
	spawn_keeper_use(SELF);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	spawn_keeper_use(NULL);
	return failed;
}
