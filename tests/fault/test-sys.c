#include "fault/every.h"

#include <dirent.h>
#include <sys/stat.h>

#include "sys/cgroup.h"
#include "sys/file.h"
#include "sys/lockfile.h"
#include "sys/loop.h"
#include "sys/spawn.h"
#include "unit/sys/unit-dir.h"

static size_t entries(const char *where)
{
	struct dirent **list = NULL;
	int n = scandir(where, &list, NULL, NULL);

	assert_true(n >= 2);
	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return (size_t)n - 2;
}

static int run_capture(void *data, struct error *err)
{
	AUTO(captured) c = {0};
	struct spawn s = {.path = "/bin/sh",
		.argv = (char *const[]){"sh", "-c", "echo out; echo err >&2", NULL}};
	struct capture how = {100, 100, 10000, -1};

	(void)data;
	if (spawn_capture(&s, &how, &c, err) < 0)
		return -1;
	/* A shell that has no descriptor left to work with is its own affair. */
	if (c.status == 0)
		assert_string_equal(str_text(&c.out), "out\n");
	return 0;
}

static int run_child(void *data, struct error *err)
{
	AUTO(child) c = CHILD_INIT;
	auto_fd int given = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct spawn s = {.path = "/bin/true",
		.argv = (char *const[]){"true", NULL},
		.new_session = true,
		.fds = {{given, 3}, {given, 4}},
		.n_fds = 2};
	int status;

	(void)data;
	if (given < 0)
		return error_set_errno(err, ERROR_IO, errno, "no descriptor");
	return spawn_start(&s, &c, err) < 0 || child_wait(&c, &status, err) < 0 ? -1 : 0;
}

static int run_replace(void *data, struct error *err)
{
	(void)data;
	assert_true(unlinkat(dir, "f", 0) == 0 || errno == ENOENT);
	return file_replace_at(dir, "f", 0600, TEXT("new"), true, err);
}

static void check_replace(void *data, bool done)
{
	AUTO(str) content = STR_INIT(0);
	bool there = file_read_at(dir, "f", 10, &content) == 0;

	(void)data;
	/* Whole or not at all. */
	if (there)
		assert_string_equal(str_text(&content), "new");
	assert_true(there == done);
	assert_int_equal(entries(path), there ? 1 : 0);
}

static int run_dirs(void *data, struct error *err)
{
	auto_free char *deep = mem_printf("%s/a/b/c", path);

	(void)data;
	return file_make_dirs(deep, 0700, err);
}

static int run_remove(void *data, struct error *err)
{
	(void)data;
	return file_remove_tree_at(dir, "a", err);
}

static void check_remove(void *data, bool done)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *deep = mem_printf("%s/a/b/c", path);

	(void)data;
	assert_int_equal(faccessat(dir, "a", F_OK, 0) < 0, done);
	assert_done(file_make_dirs(deep, 0700, &err), &err);
}

static int run_memfd(void *data, struct error *err)
{
	auto_fd int fd = file_memfd("x", TEXT("bytes"), err);

	(void)data;
	return fd < 0 ? -1 : 0;
}

static int run_lock(void *data, struct error *err)
{
	struct lockfile_pool pool = {.dir = dir, .name = "slot", .slots = 2};
	auto_fd int first = -1;
	auto_fd int second = -1;

	(void)data;
	if (lockfile_try_slot(&pool, &first, err) < 0)
		return -1;
	return lockfile_try_slot(&pool, &second, err);
}

static void check_lock(void *data, bool done)
{
	auto_error struct error err = ERROR_INIT;

	(void)data;
	(void)done;
	assert_int_equal(lockfile_held(dir, "slot-0", &err), 0);
	assert_int_equal(lockfile_held(dir, "slot-1", &err), 0);
}

static int run_loop(void *data, struct error *err)
{
	AUTO_PTR(loop) l = loop_new(err);

	(void)data;
	return l ? loop_run(l, err) : -1;
}

/* What this host has, found before anything fails. */
static int version;

/* A v1 controller that cannot be opened is one that is not there, so the first is enough. */
static int run_cgroup(void *data, struct error *err)
{
	AUTO(cgroup) g = CGROUP_INIT;

	(void)data;
	return version == 0 ? 0 : cgroup_open(getpid(), &g, err);
}

static const struct row {
	struct scenario scenario;
	const char *point; /* NULL: descriptors only */
	unsigned hits;
} rows[] = {
	{{"capture", run_capture, NULL, NULL}, "spawn", 1},
	{{"child", run_child, NULL, NULL}, "spawn", 1},
	{{"replace, write", run_replace, check_replace, NULL}, "file-write", 1},
	{{"replace", run_replace, check_replace, NULL}, "file-replace", 1},
	{{"make directories", run_dirs, NULL, NULL}, "file-dirs", 1},
	{{"memory file", run_memfd, NULL, NULL}, "file-memfd", 1},
	{{"memory file, write", run_memfd, NULL, NULL}, "file-write", 1},
	{{"locks", run_lock, check_lock, NULL}, "lock", 3},
	{{"loop", run_loop, NULL, NULL}, NULL, 0},
	{{"control groups", run_cgroup, NULL, NULL}, NULL, 0},
};

static void test_points(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].point)
			every_hit(&rows[i].scenario, rows[i].point, rows[i].hits);
}

static void test_descriptors(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		every_descriptor(&rows[i].scenario);
}

static void test_remove_descriptors(void **state)
{
	(void)state;
	struct scenario s = {"remove", run_remove, check_remove, NULL};

	check_remove(NULL, true);
	every_descriptor(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_points), IN_DIR(test_descriptors), IN_DIR(test_remove_descriptors)};

	version = cgroup_version();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
