/* Walks by several threads find what one finds, whatever the tree, and whatever happens to it. */
#include "unit/sys/unit-dir.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "limits/disk-schedule.h"
#include "limits/walk.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum { NOBODY = 65534, ROUNDS = 10, FILES = 3000, DEEP = 300, FEW_DIRS = 16 };

struct seen {
	int rc;
	enum walk_reason reason;
	uint64_t bytes, entries, n_unreadable;
	size_t shown;
};

static struct seen look(struct walk_bounds b, const char *name)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(walk_result) r = {0};

	b.alone = 1;
	AUTO_PTR(walk) w = walk_new(&b);
	struct walk_root root = {.at = dir, .path = name, .exclude_top = "left out"};
	struct seen s = {.rc = walk_root(w, &root, &r, &err)};
	s.reason = r.reason;
	s.bytes = r.bytes;
	s.entries = r.entries;
	s.n_unreadable = r.n_unreadable;
	while (s.shown < WALK_UNREADABLE_SHOWN && r.unreadable[s.shown])
		s.shown++;
	return s;
}

/* However many there are; the helpers come first where the one who began sleeps. */
static void assert_same(const char *name, const struct seen *one)
{
	for (size_t i = 0; i < ROUNDS; i++) {
		struct walk_bounds b = {.walkers = 2 + i % 3, .max_dirs = i % 2 ? FEW_DIRS : 0};
		fault_arm(i < 2 ? "walk:enter:1=sleep:20" : NULL);
		struct seen s = look(b, name);
		fault_arm(NULL);
		assert_int_equal(s.rc, one->rc);
		assert_int_equal(s.reason, one->reason);
		assert_int_equal(s.entries, one->entries);
		assert_int_equal(s.bytes, one->bytes);
		assert_int_equal(s.n_unreadable, one->n_unreadable);
		assert_int_equal(s.shown, one->shown);
	}
}

static struct seen look_alone(const char *name)
{
	return look((struct walk_bounds){.walkers = 1}, name);
}

static void touch(const char *name, size_t bytes)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	auto_free char *text = mem_alloc(bytes);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, bytes), bytes);
}

/* One directory, another in which files have names of both, and one that is left out. */
static void test_flat(void **state)
{
	(void)state;
	char name[64], link[64];

	assert_int_equal(mkdirat(dir, "t", 0755), 0);
	assert_int_equal(mkdirat(dir, "t/links", 0755), 0);
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "t/a-file-with-some-name-%u", i);
		touch(name, i % 3);
		snprintf(link, sizeof(link), "t/links/%u", i);
		assert_int_equal(linkat(dir, name, dir, link, 0), 0);
	}
	touch("t/left out", 1);
	touch("t/links/left out", 1);
	struct seen one = look_alone("t");
	assert_int_equal(one.entries, 3 + 2 * FILES);
	assert_int_equal(one.reason, WALK_COMPLETE);
	assert_same("t", &one);
}

/* Directories that hold each other, and others beside them. */
static void make_deep(unsigned beside)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	char name[64];

	for (unsigned i = 0; i < DEEP; i++) {
		assert_int_equal(mkdirat(at, "d", 0755), 0);
		for (unsigned k = 0; k < beside; k++) {
			snprintf(name, sizeof(name), "%u-beside-the-way-down", k);
			assert_int_equal(mkdirat(at, name, 0755), 0);
		}
		int below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = below;
	}
	close(at);
}

static void test_deep(void **state)
{
	(void)state;
	make_deep(9);
	struct seen one = look_alone(".");
	assert_int_equal(one.entries, 1 + 10 * DEEP);
	assert_same(".", &one);
}

static void test_many_dirs(void **state)
{
	(void)state;
	char name[64];

	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(mkdirat(dir, name, 0755), 0);
		snprintf(name, sizeof(name), "%u/f", i);
		if (i % 5 == 0)
			touch(name, 1);
	}
	struct seen one = look_alone(".");
	assert_int_equal(one.entries, 1 + FILES + FILES / 5);
	assert_same(".", &one);
}

/* Their files and themselves; the number of both is the same, and three are shown. */
static void test_unreadable(void **state)
{
	(void)state;
	char name[64];

	if (geteuid() != 0)
		skip();
	assert_int_equal(fchmod(dir, 0755), 0);
	for (unsigned i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(mkdirat(dir, name, 0755), 0);
		snprintf(name, sizeof(name), "%u/f", i);
		touch(name, 1);
		snprintf(name, sizeof(name), "%u", i);
		if (i % 4 < 2)
			assert_int_equal(fchmodat(dir, name, i % 4 ? 0444 : 0, 0), 0);
	}
	pid_t child = fork();
	if (child == 0) {
		if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
			_exit(1);
		struct seen one = look_alone(".");
		assert_int_equal(one.n_unreadable, 200);
		assert_int_equal(one.shown, 3);
		assert_same(".", &one);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Directories are renamed into each other, made and removed all the time. */
static void storm(void)
{
	char a[64], b[64];

	for (unsigned i = 0;; i++) {
		snprintf(a, sizeof(a), "%u", i % 97);
		snprintf(b, sizeof(b), "%u/%u", i * 31 % 89, i % 7);
		(void)!mkdirat(dir, a, 0755);
		(void)!renameat(dir, a, dir, b);
		snprintf(a, sizeof(a), "%u/%u/%u", i * 17 % 89, i % 7, i % 5);
		(void)!mkdirat(dir, a, 0755);
		snprintf(b, sizeof(b), "%u", (i + 40) % 97);
		(void)!renameat(dir, a, dir, b);
	}
}

static void test_storm(void **state)
{
	(void)state;
	pid_t child = fork();

	if (child == 0)
		storm();
	for (unsigned i = 0; i < 5 * ROUNDS; i++) {
		struct walk_bounds b = {.walkers = 2 + i % 3, .max_dirs = i % 2 ? FEW_DIRS : 0};
		struct seen s = look(b, ".");
		assert_int_equal(s.rc, 0);
		assert_true(s.reason == WALK_COMPLETE || s.reason == WALK_MOVED);
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* True from the n-th time on. */
struct countdown {
	atomic_int left;
};

static bool is_over(void *data)
{
	struct countdown *c = data;

	return atomic_fetch_sub(&c->left, 1) <= 0;
}

static void test_ends(void **state)
{
	(void)state;
	make_deep(9);
	for (int n = 0; n < 400; n += 40) {
		struct countdown c = {n};
		struct walk_bounds b = {.walkers = 4, .cancelled = is_over, .data = &c};
		assert_int_equal(look(b, ".").rc, 1);
	}
	struct walk_bounds b = {.walkers = 4, .deadline_ms = clock_boottime_ms()};
	struct seen s = look(b, ".");
	assert_int_equal(s.reason, WALK_DEADLINE);
	assert_int_equal(s.entries, 1);
}

/* Links that do not fit count by shares with several, too. */
static void test_shares(void **state)
{
	(void)state;
	char name[64], link[64];

	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		touch(name, 1);
		snprintf(link, sizeof(link), "%u-again", i);
		assert_int_equal(linkat(dir, name, dir, link, 0), 0);
	}
	struct seen one = look_alone(".");
	for (size_t i = 0; i < ROUNDS; i++) {
		struct seen s = look((struct walk_bounds){.walkers = 3, .max_links = 1}, ".");
		assert_int_equal(s.reason, WALK_ERROR);
		assert_int_equal(s.bytes, one.bytes);
		assert_int_equal(s.entries, one.entries);
	}
}

/* What they take is told, and counts where it is more than the time that passed. */
static void test_cost(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(walk_result) r = {0};
	AUTO_PTR(walk) w = walk_new(&(struct walk_bounds){.walkers = 2, .alone = 1});

	make_deep(3);
	assert_int_equal(walk_helped_us(w), 0);
	assert_done(walk_root(w, &(struct walk_root){.at = dir, .path = "."}, &r, &err), &err);
	assert_true(walk_helped_us(w) > 0);
	assert_int_equal(disk_schedule_cost(20, 39001), 40);
	assert_int_equal(disk_schedule_cost(20, 3000), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_flat),
		IN_DIR(test_deep),
		IN_DIR(test_many_dirs),
		IN_DIR(test_unreadable),
		IN_DIR(test_storm),
		IN_DIR(test_ends),
		IN_DIR(test_shares),
		IN_DIR(test_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
