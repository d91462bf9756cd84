#include "unit/unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "executor/localprocess/local-process.h"

#define REST " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 "

static void test_parse(void **unused)
{
	static const struct {
		const char *stat;
		struct local_process expect; /* pid 0: refused */
	} rows[] = {
		{"7 (sh) S 3 7 5" REST "123456 1 2\n", {7, 3, 5, 'S', 123456}},
		{"7 (a ) Z 1 (b) R 3 7 5" REST "9", {7, 3, 5, 'R', 9}},
		{"7 (\n)) D 0 0 0" REST "18446744073709551615 0", {7, 0, 0, 'D', UINT64_MAX}},
		{"7 (sh) S 3 7 5" REST, {0}},
		{"7 (sh) S 3 7 5", {0}},
		{"7 (sh) S 3 7 x" REST "9", {0}},
		{"7 (sh) S -3 7 5" REST "9", {0}},
		{"7 (sh) S 3 7 99999999999" REST "9", {0}},
		{"7 (sh) S 3 7 5" REST "18446744073709551616", {0}},
		{"x (sh) S 3 7 5" REST "9", {0}},
		{"7 sh S 3 7 5" REST "9", {0}},
		{"7 (sh)", {0}},
		{"", {0}},
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct local_process *e = &rows[i].expect;
		struct local_process p = {0};
		assert_int_equal(local_process_parse(text_of(rows[i].stat), &p), e->pid != 0);
		assert_int_equal(p.pid, e->pid);
		assert_int_equal(p.parent, e->parent);
		assert_int_equal(p.session, e->session);
		assert_int_equal(p.state, e->state);
		assert_true(p.start == e->start);
	}
}

static void test_read(void **unused)
{
	struct local_process p;

	(void)unused;
	assert_true(local_process_read(getpid(), &p));
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.parent, getppid());
	assert_int_equal(p.session, getsid(0));
	assert_int_equal(p.state, 'R');
	assert_true(p.start > 0);
	assert_false(local_process_read(0, &p));
	assert_false(local_process_read(INT32_MAX, &p));
}

static void test_session(void **unused)
{
	static const struct local_process leader = {.pid = 10, .session = 10, .start = 100};
	static const struct local_process other = {.pid = 10, .session = 10, .start = 500};
	static const struct {
		pid_t session;
		uint64_t start;
		const struct local_process *now;
		bool expect;
	} rows[] = {
		{10, 100, &leader, true},
		{10, 101, &leader, true},
		{10, 101, NULL, true},    /* the leader is gone, its session is not */
		{10, 99, NULL, false},    /* older than the leader: another session */
		{10, 600, &other, false}, /* the pid was given to somebody else */
		{11, 101, &leader, false},
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct local_process p = {
			.pid = 12, .session = rows[i].session, .start = rows[i].start};
		assert_int_equal(
			local_process_of_session(&p, &leader, rows[i].now), rows[i].expect);
	}
}

/* A child that waits for ever; it has done `what` first. */
static pid_t start(void (*what)(const char *), const char *with)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		what(with);
		(void)!write(ready[1], "r", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void new_session(const char *unused)
{
	(void)unused;
	setsid();
}

static void hold_pipe(const char *path)
{
	setsid();
	open(path, O_RDWR);
}

static int wait_for(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static void test_kill_run(void **unused)
{
	char dir[] = "/tmp/test-local-process-XXXXXX";
	struct local_process leader;

	(void)unused;
	assert_non_null(mkdtemp(dir));
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkfifoat(fd, "stdout.fifo", 0600), 0);
	char path[64];
	snprintf(path, sizeof(path), "%s/stdout.fifo", dir);
	pid_t first = start(new_session, NULL);
	pid_t holder = start(hold_pipe, path);
	pid_t stranger = start(new_session, NULL);
	assert_true(local_process_read(first, &leader));
	assert_int_equal(local_process_kill_run(&leader, fd), 2);
	assert_int_equal(wait_for(first), SIGKILL);
	assert_int_equal(wait_for(holder), SIGKILL);
	assert_int_equal(local_process_kill_run(&leader, fd), 0);
	assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0);
	kill(stranger, SIGKILL);
	wait_for(stranger);
	unlinkat(fd, "stdout.fifo", 0);
	rmdir(dir);
}

static void fork_once(const char *unused)
{
	(void)unused;
	setsid();
	if (fork() == 0) {
		setsid();
		for (;;)
			pause();
	}
}

/* Whatever session they are in, at whatever depth; those who are killed hand the rest to us. */
static void test_kill_descendants(void **unused)
{
	(void)unused;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	start(fork_once, NULL);
	assert_true(local_process_kill_descendants() >= 1);
	while (wait(NULL) > 0)
		local_process_kill_descendants();
	assert_int_equal(local_process_kill_descendants(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_kill_run),
		cmocka_unit_test(test_kill_descendants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
