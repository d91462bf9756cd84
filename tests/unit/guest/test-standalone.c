/* The init's file under its other names: without a shim (§9.2), and as the sandbox's `cloop`. */
#include "unit/unit.h"

#include <signal.h>
#include <sys/stat.h>

#include "unit/guest/sandbox.h"

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(script) ARGV("sh", "-c", script)
#define NO_ARGV ((const char *const[]){NULL})

static const char standalone[] = "/run/cloop/init-standalone";

static void test_endings(void **state)
{
	const struct {
		const char *const *argv;
		const char *output;
		int code;
	} rows[] = {
		{SHELL("echo out; exit 7"), "out\n", 7},
		{SHELL("echo out >&2; kill -TERM $$"), "out\n", 143},
		{SHELL("echo $SECRET; pwd"), "hush\n/workspace\n", 0},
		{ARGV("no-such-command"),
			"cloop init: command not found: \"no-such-command\": exec: No such file or "
			"directory\n",
			127},
		{ARGV("/workspace"),
			"cloop init: command cannot be executed: \"/workspace\": exec: Permission "
			"denied\n",
			126},
		{ARGV("a\nb\033"), "not found: \"a?b?\": exec", 127},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sandbox s;
		sandbox_start_as(&s, standalone, rows[i].argv);
		sandbox_expect_output(&s, rows[i].output);
		assert_int_equal(sandbox_wait(&s), rows[i].code);
		sandbox_end(&s);
	}
}

static void test_signals_and_orphans(void **state)
{
	struct sandbox s;

	(void)state;
	sandbox_start_as(&s, standalone,
		SHELL("trap 'echo trapped; exit 9' INT; sh -c 'true & setsid true &'; sleep 0.3;"
		      "grep -h State: /proc/[0-9]*/status | grep -c Z;"
		      "sh -c 'echo ready; exec sleep 100'"));
	sandbox_expect_output(&s, "0\nready\n");
	assert_int_equal(kill(s.init, SIGINT), 0);
	sandbox_expect_output(&s, "trapped");
	assert_int_equal(sandbox_wait(&s), 9);
	sandbox_end(&s);
}

static void test_other_names(void **state)
{
	const struct {
		const char *program;
		const char *const *argv;
		const char *output;
		int code;
	} rows[] = {
		{"/run/cloop/cloop", ARGV("version"), "cloop " CLOOP_VERSION " (sandbox)\n", 0},
		{"/run/cloop/cloop", ARGV("version", "--json"),
			"{\"version\":\"" CLOOP_VERSION "\"", 0},
		{"/run/cloop/cloop", ARGV("run", "x"), "inside a sandbox", 2},
		{"/run/cloop/cloop", NO_ARGV, "inside a sandbox", 2},
		{standalone, NO_ARGV, "no command", 125},
		{"/run/cloop/init", NO_ARGV, "no command", 125},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sandbox s;
		sandbox_start_as(&s, rows[i].program, rows[i].argv);
		sandbox_expect_output(&s, rows[i].output);
		assert_int_equal(sandbox_wait(&s), rows[i].code);
		sandbox_end(&s);
	}
}

static int prepare(void **state)
{
	(void)state;
	return sandbox_prepare(GUEST) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_signals_and_orphans),
		cmocka_unit_test(test_other_names),
	};

	if (geteuid() != 0) {
		puts("1..0 # skip a sandbox for the real init needs root");
		return 0;
	}
	return cmocka_run_group_tests(tests, prepare, NULL);
}
