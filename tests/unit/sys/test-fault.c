#include "unit/unit.h"

#include <signal.h>
#include <sys/wait.h>

#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/log.h"

/* How many of `times` hits of the point answer true, and which was the first (1…; 0 = none). */
static int hits(const char *point, int times, int *ret_first)
{
	int n = 0;

	*ret_first = 0;
	for (int i = 1; i <= times; i++) {
		if (fault_hit(point) && n++ == 0)
			*ret_first = i;
	}
	return n;
}

static void test_forms(void **state)
{
	(void)state;
	static const struct {
		const char *armed, *point;
		int first; /* 0 = never */
	} rows[] = {
		{"spawn", "spawn", 1},
		{"spawn=fail", "spawn", 1},
		{"spawn:1", "spawn", 1},
		{"spawn:3", "spawn", 3},
		{"spawn:3=fail", "spawn", 3},
		{"spawn", "spaw", 0},
		{"spawn", "spawn:1", 0},
		{"start:9-fifos", "start:9-fifos", 1},
		{"start:9-fifos:2", "start:9-fifos", 2},
		{"start:9-fifos", "start", 0},
		{"start:a2", "start:a2", 1},
		{"start:02", "start:02", 1},
		{"spawn:0", "spawn", 0},
		{"spawn:99999999999", "spawn", 0},
		{"spawn=", "spawn", 0},
		{"spawn=explode", "spawn", 0},
		{"spawn=fail:1", "spawn", 0},
		{"spawn=sleep:0", "spawn", 0},
		{"spawn=sleep:", "spawn", 0},
		{"spawn=sleep:x", "spawn", 0},
		{":2", "", 0},
		{"", "", 0},
		{"=fail", "", 0},
		{NULL, "spawn", 0},
	};
	log_set_fd(-1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int first;
		fault_arm(rows[i].armed);
		int n = hits(rows[i].point, 5, &first);
		if (first != rows[i].first || n != (first > 0))
			fail_msg("%s: first %d, %d hits", rows[i].armed, first, n);
	}
	fault_arm(NULL);
}

static void test_sleep(void **state)
{
	(void)state;
	int64_t before = clock_boottime_ms();

	fault_arm("point:2=sleep:30");
	assert_false(fault_hit("point"));
	assert_true(clock_boottime_ms() - before < 30);
	assert_false(fault_hit("point"));
	assert_true(clock_boottime_ms() - before >= 30);
}

static void test_signals(void **state)
{
	(void)state;
	static const struct {
		const char *armed;
		int signal;
	} rows[] = {{"p=kill", SIGKILL}, {"p=stop", SIGSTOP}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			fault_arm(rows[i].armed);
			_exit(fault_hit("p") ? 1 : 7);
		}
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		if (rows[i].signal == SIGKILL) {
			assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
			continue;
		}
		assert_true(WIFSTOPPED(status));
		kill(pid, SIGCONT);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
}

static void test_environment_is_read_once(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("CLOOP_FAULT", "env-point:2", 1);
		bool first = fault_hit("env-point");
		setenv("CLOOP_FAULT", "other", 1);
		_exit(!first && !fault_hit("other") && fault_hit("env-point") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	/* The first needs a process that has met no point yet. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment_is_read_once),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_signals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
