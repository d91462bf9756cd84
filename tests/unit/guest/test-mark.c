/* Finding the processes of a session that go on making others. */
#include "unit/unit.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include "guest/mark.h"

enum { CHILDREN_MAX = 200 };

static pid_t children[CHILDREN_MAX];
static size_t looks;

/* Whenever it is looked at them, there is one more. */
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
	if (looks < CHILDREN_MAX) {
		pid_t pid = fork();
		if (pid == 0)
			for (;;)
				pause();
		assert_true(pid > 0);
		children[looks++] = pid;
	}
	return __real_opendir(path);
}

static void test_one_more_each_time(void **state)
{
	static const char mark[MARK_TEXT + 1] = "fedcba9876543210fedcba9876543210";
	struct mark_kin kin = {.n = 0};
	struct mark_count count;

	(void)state;
	mark_signal(mark, getpid(), &kin, 0, &count);
	for (size_t i = 0; i < looks; i++) {
		kill(children[i], SIGKILL);
		assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
	}
	assert_in_range(looks, 2, 20);
	assert_in_range(count.found, looks, looks + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_more_each_time)};

	return cmocka_run_group_tests_name("mark", tests, NULL, NULL);
}
