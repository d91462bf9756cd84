#include "unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/lockfile.h"
#include "unit/sys/unit-dir.h"

static void test_exclusive(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct stat st;
	int first = -1, second = -1;

	assert_int_equal(lockfile_held(dir, "lock", &err), 0);
	assert_done(lockfile_try(dir, "lock", &first, &err), &err);
	assert_true(fstat(first, &st) == 0 && st.st_mode == (S_IFREG | 0600));
	assert_int_equal(fcntl(first, F_GETFD), FD_CLOEXEC);
	assert_int_equal(lockfile_try(dir, "lock", &second, &err), 1);
	assert_int_equal(second, -1);
	assert_int_equal(lockfile_held(dir, "lock", &err), 1);
	/* Looking did not take anything, and closing another descriptor does not let go. */
	auto_fd int other = openat(dir, "lock", O_RDONLY | O_CLOEXEC);
	close(TAKE_FD(other));
	assert_int_equal(lockfile_held(dir, "lock", &err), 1);
	close(first);
	assert_int_equal(lockfile_held(dir, "lock", &err), 0);
	assert_done(lockfile_try(dir, "lock", &second, &err), &err);
	close(second);
}

/* The lock is the open description's: it lives on in a child, and ends with the last holder. */
static void test_inherited(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	int fd = -1, status;

	assert_done(lockfile_try(dir, "lock", &fd, &err), &err);
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	close(fd);
	assert_int_equal(lockfile_held(dir, "lock", &err), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(lockfile_held(dir, "lock", &err), 0);
}

static void test_removed_file(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	int first = -1, second = -1;
	struct stat st;

	assert_done(lockfile_try(dir, "lock", &first, &err), &err);
	assert_int_equal(unlinkat(dir, "lock", 0), 0);
	assert_done(lockfile_try(dir, "lock", &second, &err), &err);
	assert_true(fstat(second, &st) == 0 && st.st_nlink == 1);
	close(first);
	close(second);
}

static void test_errors(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	int fd = -1;

	assert_int_equal(symlinkat("target", dir, "link"), 0);
	assert_int_equal(lockfile_try(dir, "link", &fd, &err), -1);
	assert_int_equal(lockfile_held(dir, "link", &err), -1);
	assert_int_equal(lockfile_try(dir, "no/lock", &fd, &err), -1);
	assert_int_equal(faccessat(dir, "target", F_OK, 0), -1);
	fault_arm("lock");
	assert_int_equal(lockfile_try(dir, "lock", &fd, &err), -1);
	fault_arm(NULL);
	assert_int_equal(fd, -1);
}

static void test_slots(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct lockfile_pool pool = {.dir = dir, .name = "start", .slots = 3};
	int fds[3] = {-1, -1, -1}, extra = -1;

	for (size_t i = 0; i < 3; i++)
		assert_done(lockfile_try_slot(&pool, &fds[i], &err), &err);
	assert_int_equal(faccessat(dir, "start-2", F_OK, 0), 0);
	assert_int_equal(lockfile_try_slot(&pool, &extra, &err), 1);
	assert_int_equal(extra, -1);
	close(fds[1]);
	assert_done(lockfile_try_slot(&pool, &extra, &err), &err);
	close(fds[0]);
	close(fds[2]);
	close(extra);
}

static void test_wait(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	int first = -1, second = -1, cancel[2];

	assert_done(lockfile_wait(dir, "lock", 0, -1, &first, &err), &err);
	int64_t before = clock_boottime_ms();
	assert_int_equal(lockfile_wait(dir, "lock", before + 60, -1, &second, &err), 1);
	int64_t waited = clock_boottime_ms() - before;
	assert_true(waited >= 60 && waited < 20000);
	assert_int_equal(pipe(cancel), 0);
	assert_int_equal(write(cancel[1], "x", 1), 1);
	assert_int_equal(lockfile_wait(dir, "lock", 0, cancel[0], &second, &err), 2);
	assert_int_equal(second, -1);
	/* What is free is taken, whoever wants to give up. */
	close(first);
	assert_done(lockfile_wait(dir, "lock", before, cancel[0], &second, &err), &err);
	close(cancel[0]);
	close(cancel[1]);
	close(second);
}

static void test_directory(void **state)
{
	(void)state;
	auto_fd int other = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(lockfile_try_directory(dir));
	assert_true(lockfile_try_directory(dir));
	assert_false(lockfile_try_directory(other));
	close(dir);
	assert_true(lockfile_try_directory(other));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_false(lockfile_try_directory(dir));
	assert_false(lockfile_try_directory(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_exclusive), IN_DIR(test_directory),
		IN_DIR(test_inherited), IN_DIR(test_removed_file), IN_DIR(test_errors),
		IN_DIR(test_slots), IN_DIR(test_wait)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
