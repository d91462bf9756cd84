/* Files laid out like groups, so that it is tested whatever this host has. */
#include "unit/sys/unit-dir.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/cgroup-processes.h"

enum { MAX = 4 };

static void write_procs(const char *name, const char *content)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
}

static void test_groups_below(void **state)
{
	(void)state;
	pid_t pids[MAX];
	size_t n = 0;

	assert_int_equal(mkdirat(dir, "a", 0700), 0);
	assert_int_equal(mkdirat(dir, "a/b", 0700), 0);
	write_procs("cgroup.procs", "7\n8\n");
	write_procs("a/b/cgroup.procs", "9\n");
	assert_int_equal(cgroup_processes(dir, pids, MAX, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(pids[0] + pids[1] + pids[2], 7 + 8 + 9);
	assert_int_equal(cgroup_processes(dir, pids, 2, &n), 1);
	assert_int_equal(n, 2);
}

static void test_no_group(void **state)
{
	(void)state;
	pid_t pids[MAX];
	size_t n = 1;

	assert_int_equal(cgroup_processes(-1, pids, MAX, &n), -1);
	assert_int_equal(n, 0);
	assert_int_equal(cgroup_processes(dir, pids, MAX, &n), 0);
	assert_int_equal(n, 0);
	/* A file that cannot be read as one. */
	assert_int_equal(mkdirat(dir, "cgroup.procs", 0700), 0);
	assert_int_equal(cgroup_processes(dir, pids, MAX, &n), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_groups_below), IN_DIR(test_no_group)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
