#include "unit/unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sys/cgroup.h"
#include "sys/clock.h"
#include "sys/file.h"

/* Files laid out like a group, so that reading is tested whatever this host has. */
static char base[] = "/tmp/cloop-unit-cgroup-XXXXXX";

static void write_file(const char *path, const char *content)
{
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
}

/* A group of the given version at base/a/b, base being the mount. */
static struct cgroup fake(int version)
{
	struct cgroup g = CGROUP_INIT;
	auto_free char *path = mem_printf("%s/a/b", base);
	int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(dir >= 0);
	g.version = version;
	for (size_t c = 0; c < CGROUP_CONTROLLERS; c++) {
		g.dirs[c] = version == 2 || c == 0 ? dir : dup(dir);
		g.paths[c] = mem_strdup(path);
		g.mounts[c] = mem_strdup(base);
	}
	return g;
}

static int make_files(void **state)
{
	(void)state;
	static const char *const files[][2] = {
		{"memory.max", "1000\n"},
		{"a/memory.max", " 2000 \n\n"},
		{"a/b/memory.max", "max\n"},
		{"a/b/cpu.stat", "usage_usec 2500999\nuser_usec 1\n"},
		{"a/b/cpuacct.usage", "3999999\n"},
		{"a/b/memory.peak", "4096\n"},
		{"a/b/memory.max_usage_in_bytes", "8192\n"},
		{"a/b/memory.events", "low 0\noom 2\noom_kill 1\n"},
		{"a/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n"},
	};
	if (!mkdtemp(base))
		return -1;
	auto_free char *a = mem_printf("%s/a", base);
	auto_free char *b = mem_printf("%s/a/b", base);
	if (mkdir(a, 0700) < 0 || mkdir(b, 0700) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *path = mem_printf("%s/%s", base, files[i][0]);
		write_file(path, files[i][1]);
	}
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return file_remove_tree_at(tmp, base + strlen("/tmp/"), &err);
}

static void test_levels(void **state)
{
	(void)state;
	AUTO(cgroup) g = fake(2);
	char buf[16];

	assert_int_equal(cgroup_read(&g, CGROUP_MEMORY, 0, "memory.max", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "max");
	assert_int_equal(cgroup_read(&g, CGROUP_MEMORY, 1, "memory.max", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "2000");
	assert_int_equal(cgroup_read(&g, CGROUP_MEMORY, 2, "memory.max", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "1000");
	assert_int_equal(cgroup_read(&g, CGROUP_MEMORY, 3, "memory.max", buf, sizeof(buf)), 1);
	assert_int_equal(cgroup_read(&g, CGROUP_MEMORY, 1000, "memory.max", buf, sizeof(buf)), 1);
	assert_int_equal(cgroup_read(&g, CGROUP_MEMORY, 0, "memory.none", buf, sizeof(buf)), 1);
	assert_int_equal(cgroup_read(&g, CGROUP_MEMORY, 2, "memory.max", buf, 3), 0);
	assert_string_equal(buf, "10");
}

static void test_values(void **state)
{
	(void)state;
	AUTO(cgroup) v2 = fake(2);
	AUTO(cgroup) v1 = fake(1);
	AUTO(cgroup) none = CGROUP_INIT;
	char buf[16];

	assert_int_equal(cgroup_cpu_ms(&v2), 2500);
	assert_int_equal(cgroup_cpu_ms(&v1), 3);
	assert_int_equal(cgroup_memory_peak(&v2), 4096);
	assert_int_equal(cgroup_memory_peak(&v1), 8192);
	assert_int_equal(cgroup_oom_kills(&v2), 1);
	assert_int_equal(cgroup_oom_kills(&v1), 5);
	assert_int_equal(cgroup_cpu_ms(&none), -1);
	assert_int_equal(cgroup_memory_peak(&none), -1);
	assert_int_equal(cgroup_oom_kills(&none), -1);
	assert_int_equal(cgroup_read(&none, CGROUP_PIDS, 1, "x", buf, sizeof(buf)), 1);
}

static void test_open(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(cgroup) g = CGROUP_INIT;

	assert_int_equal(cgroup_open(0x7ffffff0, &g, &err), -1);
	assert_true(error_is(&err, ERROR_IO));
	if (cgroup_version() == 0)
		skip();
	assert_done(cgroup_open(getpid(), &g, &err), &err);
	assert_int_equal(g.version, cgroup_version());
	assert_true(g.dirs[CGROUP_MEMORY] >= 0);
	assert_int_equal(fcntl(g.dirs[CGROUP_MEMORY], F_GETFD), FD_CLOEXEC);
	for (size_t c = 0; c < CGROUP_CONTROLLERS; c++)
		if (g.version == 1)
			assert_false(cgroup_delegated((enum cgroup_controller)c));
}

/* The group, a directory below our own memory group; 77 = this host does not let us. */
static _Noreturn void eat_memory(const char *group)
{
	auto_free char *limit = mem_printf("%s/memory.limit_in_bytes", group);
	auto_free char *procs = mem_printf("%s/cgroup.procs", group);
	enum { EATEN = 64 << 20 };

	write_file(limit, "16777216");
	write_file(procs, "0");
	char *p = mmap(NULL, EATEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED)
		memset(p, 1, EATEN);
	_exit(1);
}

static void watch_a_kill(struct cgroup *g, const char *group)
{
	bool priority = true;
	auto_fd int watch = cgroup_oom_watch(g, &priority);
	struct pollfd p = {.fd = watch, .events = POLLIN};
	int status;

	assert_true(watch >= 0);
	assert_false(priority);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(cgroup_oom_kills(g), 0);
	pid_t pid = fork();
	if (pid == 0)
		eat_memory(group);
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cgroup_oom_seen(watch);
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(cgroup_oom_kills(g), 1);
	assert_true(cgroup_memory_peak(g) >= 8 << 20);
}

static void test_oom_v1(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(cgroup) g = CGROUP_INIT;

	if (cgroup_version() != 1 || geteuid() != 0)
		skip();
	assert_done(cgroup_open(getpid(), &g, &err), &err);
	auto_free char *group =
		mem_printf("%s/cloop-unit-%d", g.paths[CGROUP_MEMORY], (int)getpid());
	if (mkdir(group, 0755) < 0) {
		free(TAKE_PTR(group)); /* skip() jumps over the cleanup */
		cgroup_done(&g);
		skip();
	}
	close(g.dirs[CGROUP_MEMORY]);
	g.dirs[CGROUP_MEMORY] = open(group, O_PATH | O_DIRECTORY | O_CLOEXEC);
	watch_a_kill(&g, group);
	for (int i = 0; i < 100 && rmdir(group) < 0; i++)
		clock_sleep_ms(10);
	assert_int_equal(access(group, F_OK), -1);
}

/*
 * v2 tells by priority events. A host whose v2 groups have no memory controller (hybrid) has
 * cgroup.events at least, which the kernel announces in the same way.
 */
static void test_seen_v2(void **state)
{
	(void)state;
	static const char *const mounts[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
	auto_free char *group = NULL;
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(mounts) && !group; i++) {
		auto_free char *probe = mem_printf("%s/cgroup.controllers", mounts[i]);
		if (access(probe, F_OK) == 0)
			group = mem_printf("%s/cloop-unit-%d", mounts[i], (int)getpid());
	}
	if (!group || mkdir(group, 0755) < 0) {
		free(TAKE_PTR(group)); /* skip() jumps over the cleanup */
		skip();
	}
	auto_free char *events = mem_printf("%s/cgroup.events", group);
	auto_free char *procs = mem_printf("%s/cgroup.procs", group);
	auto_fd int watch = open(events, O_RDONLY | O_CLOEXEC);
	struct pollfd p = {.fd = watch, .events = POLLPRI};
	cgroup_oom_seen(watch);
	assert_int_equal(poll(&p, 1, 0), 0);
	pid_t pid = fork();
	if (pid == 0) {
		write_file(procs, "0");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_true(p.revents & POLLPRI);
	/* It is told at its beginning and its end; after both it is quiet. */
	for (int i = 0; i < 100 && poll(&p, 1, 50) > 0; i++)
		cgroup_oom_seen(watch);
	assert_int_equal(poll(&p, 1, 0), 0);
	for (int i = 0; i < 100 && rmdir(group) < 0; i++)
		clock_sleep_ms(10);
}

static void test_watch_v2(void **state)
{
	(void)state;
	AUTO(cgroup) g = fake(2);
	AUTO(cgroup) none = CGROUP_INIT;
	bool priority = false;
	auto_fd int watch = cgroup_oom_watch(&g, &priority);
	auto_fd int nothing = cgroup_oom_watch(&none, &priority);

	assert_true(watch >= 0 && priority);
	assert_int_equal(nothing, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels),
		cmocka_unit_test(test_values), cmocka_unit_test(test_open),
		cmocka_unit_test(test_oom_v1), cmocka_unit_test(test_watch_v2),
		cmocka_unit_test(test_seen_v2)};
	return cmocka_run_group_tests(tests, make_files, remove_files);
}
