#include "unit/unit.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/descendants.h"

/* A child in a session of its own with a child, and the pid of that one. */
static pid_t start_family(pid_t *ret_grandchild)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		setsid();
		pid_t grandchild = fork();
		if (grandchild == 0) {
			pause();
			_exit(0);
		}
		(void)!write(ends[1], &grandchild, sizeof(grandchild));
		waitpid(grandchild, NULL, 0);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], ret_grandchild, sizeof(*ret_grandchild)),
		(int)sizeof(*ret_grandchild));
	close(ends[0]);
	close(ends[1]);
	return child;
}

static void test_find_and_kill(void **state)
{
	(void)state;
	AUTO(descendants) found = DESCENDANTS_INIT;
	pid_t grandchild = -1;

	pid_t child = start_family(&grandchild);
	descendants_find(getpid(), &found);
	assert_true(descendants_have(&found, child) && descendants_have(&found, grandchild));
	assert_false(descendants_have(&found, getpid()));
	assert_int_equal(found.v[0].pid, child);
	assert_int_equal(found.v[0].parent, getpid());
	assert_int_equal(found.v[1].session, child);
	assert_false(descendant_contained(&found.v[0]));
	descendants_find(0, &found);
	assert_int_equal(found.n, 0);
	descendants_find(child, &found);
	assert_int_equal(found.n, 1);
	/* Another process by that number is left alone. */
	struct descendant wrong = found.v[0];
	wrong.session = 1;
	descendant_kill(&wrong);
	descendants_find(child, &found);
	assert_int_equal(found.n, 1);
	descendant_kill(&found.v[0]);
	for (unsigned i = 0; i < 500 && found.n > 0; i++) {
		clock_sleep_ms(10);
		descendants_find(child, &found);
	}
	assert_int_equal(found.n, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	descendants_find(getpid(), &found);
	assert_false(descendants_have(&found, child));
}

static void test_strange_name(void **state)
{
	(void)state;
	AUTO(descendants) found = DESCENDANTS_INIT;
	FILE *name = fopen("/proc/self/comm", "w");

	assert_non_null(name);
	fputs("a) S 1 1 1", name);
	fclose(name);
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	descendants_find(getpid(), &found);
	assert_true(descendants_have(&found, child));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* A whole word of the command line. */
static void test_with_word(void **state)
{
	(void)state;
	AUTO(descendants) found = DESCENDANTS_INIT;
	char word[64];

	snprintf(word, sizeof(word), "--mark=%d", (int)getpid());
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "kill -STOP $$", "sh", "a b", word, NULL);
		_exit(1);
	}
	for (unsigned i = 0; i < 500 && found.n == 0; i++) {
		clock_sleep_ms(10);
		descendants_with_word(word, &found);
	}
	assert_int_equal(found.n, 1);
	assert_int_equal(found.v[0].pid, child);
	word[strlen(word) - 1] = '\0';
	descendants_with_word(word, &found);
	assert_int_equal(found.n, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_find_and_kill),
		cmocka_unit_test(test_strange_name), cmocka_unit_test(test_with_word)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
