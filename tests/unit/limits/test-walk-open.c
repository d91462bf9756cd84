/* Files without a name that processes hold open (disk-and-secrets.md §5). */
#include "unit/sys/unit-dir.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "limits/walk-open.h"

enum { FILE_BYTES = 1 << 20, SLACK = 1 << 16 };

static int open_deleted(const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	auto_free char *bytes = mem_alloc(FILE_BYTES);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, FILE_BYTES), FILE_BYTES);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(unlinkat(dir, name, 0), 0);
	return fd;
}

/* What is added for this process; its own root is the mount of everything. */
static struct walk_result add(const char *target, const pid_t *pids, size_t n, bool more)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(walk) w = walk_new(&(struct walk_bounds){0});
	const char *targets[] = {target, NULL};
	struct walk_result r = {0};
	struct walk_open in = {
		.init = getpid(), .pids = pids, .n = n, .more = more, .targets = targets};

	assert_done(walk_root(w, &(struct walk_root){.at = dir, .path = "."}, &r, &err), &err);
	uint64_t walked = r.bytes;
	walk_open_add(w, &in, &r);
	r.bytes -= walked;
	return r;
}

/* Mount point that the test's directory lies on. */
static char *mount_point(void)
{
	struct stat st, above;
	char at[PATH_MAX];

	snprintf(at, sizeof(at), "%s", path);
	for (;;) {
		char *slash = strrchr(at, '/');
		assert_int_equal(stat(at, &st), 0);
		if (slash == at) {
			assert_int_equal(stat("/", &above), 0);
			return mem_strdup(st.st_dev == above.st_dev ? "/" : at);
		}
		*slash = '\0';
		assert_int_equal(stat(at, &above), 0);
		if (st.st_dev != above.st_dev) {
			*slash = '/';
			return mem_strdup(at);
		}
	}
}

static void test_deleted(void **state)
{
	(void)state;
	auto_free char *mount = mount_point();
	pid_t self[] = {getpid(), getpid()};
	auto_fd int fd = open_deleted("f");
	auto_fd int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	auto_fd int memory = memfd_create("not on the walk's filesystem", MFD_CLOEXEC);

	assert_int_equal(ftruncate(memory, FILE_BYTES), 0);
	assert_true(again >= 0);
	struct walk_result r = add(mount, self, ARRAY_SIZE(self), false);
	assert_int_equal(r.reason, WALK_COMPLETE);
	assert_in_range(r.bytes, FILE_BYTES, FILE_BYTES + SLACK);
	/* Opened through a mount that is none of ours. */
	r = add("/no/such/mount", self, 1, false);
	assert_int_equal(r.reason, WALK_COMPLETE);
	assert_int_equal(r.bytes, 0);
}

static void test_bounds(void **state)
{
	(void)state;
	enum { NO_SUCH = 0x3fffffff };
	pid_t gone[] = {NO_SUCH};

	struct walk_result r = add("/", gone, 1, false);
	assert_int_equal(r.reason, WALK_COMPLETE);
	assert_int_equal(add("/", gone, 1, true).reason, WALK_FDS);
	auto_free pid_t *many = mem_alloc((WALK_OPEN_PROCESSES + 1) * sizeof(*many));
	for (size_t i = 0; i <= WALK_OPEN_PROCESSES; i++)
		many[i] = NO_SUCH;
	assert_int_equal(add("/", many, WALK_OPEN_PROCESSES + 1, false).reason, WALK_FDS);
}

static void test_mounts(void **state)
{
	(void)state;
	static const char text[] = "21 1 0:5 / / rw - ext4 /dev/a rw\n"
				   "22 21 0:6 /p /workspace rw - ext4 /dev/a rw\n"
				   "23 22 0:6 /h /workspace/.git/hooks ro - ext4 /dev/a rw\n"
				   "24 21 0:7 /o /out\\040put rw - ext4 /dev/a rw\n"
				   "nonsense\n";
	static const char *const targets[] = {"/workspace", "/out put", NULL};
	uint64_t ids[4];

	assert_int_equal(walk_open_mounts(text_of(text), targets, ids, ARRAY_SIZE(ids)), 2);
	assert_int_equal(ids[0], 22);
	assert_int_equal(ids[1], 24);
	assert_int_equal(walk_open_mounts(text_of(text), targets, ids, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_deleted),
		IN_DIR(test_bounds),
		cmocka_unit_test(test_mounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
