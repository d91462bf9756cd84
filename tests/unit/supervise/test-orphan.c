/* Finding what a killed start left at work, among real processes. */
#include "unit/sys/unit-dir.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "executor/container/supervise/orphan.h"

static int end_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* This program again, with these words, and out (-1: ours) as stdout: it waits for its end (main).
 */
static pid_t start_into(int out, char *name, char *const *words)
{
	char *argv[8] = {name};
	int ready[2];
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	for (size_t i = 0; words[i]; i++)
		argv[i + 1] = words[i];
	pid_t pid = fork();
	if (pid == 0) {
		if (out >= 0)
			dup2(out, STDOUT_FILENO);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	close(ready[1]);
	(void)!read(ready[0], &byte, 1);
	close(ready[0]);
	return pid;
}

static pid_t start(char *name, char *const *words)
{
	return start_into(-1, name, words);
}

static struct rundir run(char *at)
{
	return (struct rundir){.fd = -1, .path = at};
}

static void test_client(void **state)
{
	struct rundir ours = run("/h/runs/c-000000000001"), other = run("/h/runs/c-000000000002");
	pid_t client = start("podman",
		(char *[]){"run", "--detach", "--cidfile=/h/runs/c-000000000001/cid", NULL});
	pid_t stranger = start(
		"podman", (char *[]){"logs", "x", "--cidfile=/h/runs/c-000000000001/cid", NULL});

	(void)state;
	assert_true(orphan_signal(&ours, 0));
	assert_false(orphan_signal(&other, SIGKILL));
	assert_true(orphan_signal(&ours, SIGKILL));
	assert_int_equal(end_of(client), SIGKILL);
	assert_false(orphan_signal(&ours, SIGKILL));
	assert_int_equal(kill(stranger, SIGTERM), 0);
	assert_int_equal(end_of(stranger), SIGTERM);
}

/* Only who says exactly this, into the pipe of this run. */
static void test_attached_client(void **state)
{
	char id[] = "0123456789abcdef";
	struct rundir ours = {.fd = dir};

	(void)state;
	assert_int_equal(mkfifoat(dir, "stdout.fifo", 0600), 0);
	auto_fd int pipe = openat(dir, "stdout.fifo", O_RDWR | O_CLOEXEC);
	assert_true(pipe >= 0);
	pid_t others[] = {
		start_into(pipe, "docker", (char *[]){"inspect", id, NULL}),
		start_into(pipe, "docker", (char *[]){"start", id, "--attach", "x", NULL}),
		start_into(pipe, "vi", (char *[]){"start", "notes", id, NULL}),
		start_into(pipe, "docker", (char *[]){"start", "--attach", id, "x", NULL}),
		start("docker", (char *[]){"start", "--attach", id, NULL}),
	};
	assert_int_equal(orphan_client(&ours, id), -1);
	assert_int_equal(orphan_client(&ours, ""), -1);
	pid_t client = start_into(pipe, "docker", (char *[]){"start", "--attach", id, NULL});
	int pidfd = orphan_client(&ours, id);
	assert_true(pidfd >= 0);
	assert_int_equal(syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0), 0);
	assert_int_equal(end_of(client), SIGKILL);
	close(pidfd);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		kill(others[i], SIGKILL);
		end_of(others[i]);
	}
}

static void test_monitor(void **state)
{
	pid_t monitor = start("/usr/bin/conmon", (char *[]){"-c", "0", "-n", "cloop-p-1", NULL});
	pid_t other = start("/usr/bin/conmon", (char *[]){"-n", "cloop-p-12", NULL});

	(void)state;
	assert_false(orphan_monitor("cloop-p", true));
	assert_true(orphan_monitor("cloop-p-1", false));
	assert_int_equal(waitpid(monitor, NULL, WNOHANG), 0);
	assert_true(orphan_monitor("cloop-p-1", true));
	assert_int_equal(end_of(monitor), SIGKILL);
	assert_false(orphan_monitor("cloop-p-1", true));
	assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
	kill(other, SIGKILL);
	end_of(other);
}

/* A monitor reaps what it kept and ends by itself. */
static void test_what_a_monitor_keeps(void **state)
{
	pid_t monitor = start("conmon", (char *[]){"-n", "cloop-p-2", "parent", NULL});

	(void)state;
	for (unsigned i = 0; i < 5000 && waitpid(monitor, NULL, WNOHANG) == 0; i++) {
		assert_true(orphan_monitor("cloop-p-2", false) || i > 0);
		usleep(20000);
	}
	assert_false(orphan_monitor("cloop-p-2", true));
}

/*
 * A child that waits for ever, and its end. Not by exit(): the leak check of a sanitizer works in a
 * child as well, which the test would kill, and then waits for it for ever.
 */
static _Noreturn void keep_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		pause();
	waitpid(pid, NULL, 0);
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client),
		IN_DIR(test_attached_client),
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_what_a_monitor_keeps),
	};

	if (argc > 1 && strcmp(argv[argc - 1], "parent") == 0)
		keep_child();
	if (argc > 1)
		return pause();
	alarm(240);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
