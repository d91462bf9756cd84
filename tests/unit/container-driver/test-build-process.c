/* With /bin/sh in the engine's place. */
#include "unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "executor/container/driver/build-process.h"
#include "sys/clock.h"
#include "sys/descendants.h"

struct fixture {
	struct runtime runtime;
	struct strv argv, env;
	struct build_output output;
	struct build_process process;
	struct build_outcome outcome;
};

static void fixture_init(struct fixture *f, enum engine engine, const char *script)
{
	*f = (struct fixture){.argv = STRV_INIT(8), .env = STRV_INIT(8)};
	f->output = BUILD_OUTPUT_INIT;
	f->runtime = (struct runtime){.engine = engine, .path = "/bin/sh"};
	strv_add(&f->argv, "sh");
	strv_add(&f->argv, "-c");
	strv_add(&f->argv, script);
	strv_add(&f->env, "PATH=/usr/bin:/bin");
	f->process = (struct build_process){
		.runtime = &f->runtime,
		.argv = &f->argv,
		.env = &f->env,
		.dockerfile = TEXT("FROM x\n"),
		.deadline_ms = clock_boottime_ms() + 60000,
		.cancel_fd = -1,
		.output = &f->output,
	};
}

static void fixture_done(struct fixture *f)
{
	strv_done(&f->argv);
	strv_done(&f->env);
	build_output_done(&f->output);
}

static void run(struct fixture *f)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(descendants) left = DESCENDANTS_INIT;

	assert_done(build_process_run(&f->process, &f->outcome, &err), &err);
	descendants_find(getpid(), &left);
	assert_int_equal(left.n, 0);
}

static void test_ends(void **state)
{
	(void)state;
	AUTO(fixture) f;
	int subreaper = -1;

	fixture_init(&f, ENGINE_PODMAN, "cat; echo out; echo err >&2; exit 7");
	run(&f);
	assert_int_equal(f.outcome.end, BUILD_ENDED);
	assert_true(WIFEXITED(f.outcome.status) && WEXITSTATUS(f.outcome.status) == 7);
	struct text all = build_output_last_lines(&f.output);
	assert_true(text_is(all, "FROM x\nout\nerr"));
	prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
	assert_int_equal(subreaper, 0);
}

/* podman: commands in other sessions are killed, as often as a new one begins. */
static void test_commands_are_killed(void **state)
{
	(void)state;
	AUTO(fixture) f;

	fixture_init(&f, ENGINE_PODMAN,
		"for i in 1 2 3; do setsid -w sh -c 'trap \"\" TERM; sleep 600; exit 1'; done; "
		"echo cleaned; exit 125");
	f.process.deadline_ms = clock_boottime_ms() + 200;
	run(&f);
	assert_int_equal(f.outcome.end, BUILD_TOO_LATE);
	assert_false(f.outcome.forced);
	assert_true(WIFEXITED(f.outcome.status) && WEXITSTATUS(f.outcome.status) == 125);
	assert_true(text_ends(build_output_last_lines(&f.output), "cleaned"));
}

/* docker: the client is told; orphans of its session come to us. */
static void test_client_is_told(void **state)
{
	(void)state;
	AUTO(fixture) f;
	int cancel[2];

	assert_int_equal(pipe2(cancel, O_CLOEXEC), 0);
	assert_int_equal(write(cancel[1], "x", 1), 1);
	fixture_init(&f, ENGINE_DOCKER,
		"trap 'echo told; exit 1' TERM; (sleep 600 & echo $!); sleep 0.3; "
		"for i in 1 2 3 4 5 6; do sleep 1; done");
	f.process.cancel_fd = cancel[0];
	run(&f);
	assert_int_equal(f.outcome.end, BUILD_CANCELLED);
	assert_false(f.outcome.forced);
	close(cancel[0]);
	close(cancel[1]);
}

static void test_stubborn_client(void **state)
{
	(void)state;
	AUTO(fixture) f;

	fixture_init(&f, ENGINE_DOCKER, "trap '' TERM; while :; do sleep 600; done");
	f.process.deadline_ms = clock_boottime_ms() + 100;
	run(&f);
	assert_int_equal(f.outcome.end, BUILD_TOO_LATE);
	assert_true(f.outcome.forced);
	assert_true(WIFSIGNALED(f.outcome.status) && WTERMSIG(f.outcome.status) == SIGKILL);
}

static struct rlimit files;

/* poll() takes no more descriptors than a process may have. */
static void break_poll(void *data, struct text piece)
{
	(void)data;
	(void)piece;
	struct rlimit few = {1, files.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void test_waiting_fails(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(fixture) f;

	fixture_init(&f, ENGINE_PODMAN, "echo begun; exec sleep 600");
	f.output.show = break_poll;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	int r = build_process_run(&f.process, &f.outcome, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
	assert_int_equal(r, -1);
	assert_true(error_is(&err, ERROR_IO));
	assert_true(f.outcome.forced);
}

static void test_cannot_start(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(fixture) f;

	fixture_init(&f, ENGINE_PODMAN, "true");
	f.runtime.path = "/nonexistent/podman";
	assert_int_equal(build_process_run(&f.process, &f.outcome, &err), -1);
	assert_true(error_is(&err, ERROR_IO));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends),
		cmocka_unit_test(test_commands_are_killed), cmocka_unit_test(test_client_is_told),
		cmocka_unit_test(test_stubborn_client), cmocka_unit_test(test_waiting_fails),
		cmocka_unit_test(test_cannot_start)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
