/* Walks over trees that are deep, wide, mounted over, not ours, or changed meanwhile (§21.2). */
#include "unit/sys/unit-dir.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "limits/walk.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum { NOBODY = 65534, DEEP = 2100, BLOCK = 512, FILE_BYTES = 65536 };

/* What a walk of the test's directory, or of `name` in it, found. */
struct seen {
	int rc;
	enum walk_reason reason;
	uint64_t bytes, entries, n_unreadable;
	char first[64];
};

static void keep(struct seen *to, struct walk_result *r)
{
	to->reason = r->reason;
	to->bytes = r->bytes;
	to->entries = r->entries;
	to->n_unreadable = r->n_unreadable;
	snprintf(to->first, sizeof(to->first), "%s", r->unreadable[0] ? r->unreadable[0] : "");
}

static struct seen look(const struct walk_bounds *b, struct walk_root root)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(walk_result) r = {0};
	AUTO_PTR(walk) w = walk_new(b);
	struct seen s = {0};

	s.rc = walk_root(w, &root, &r, &err);
	keep(&s, &r);
	return s;
}

static struct seen look_at(const char *name)
{
	return look(&(struct walk_bounds){0}, (struct walk_root){.at = dir, .path = name});
}

/* The same in a process of an ordinary user. */
static struct seen look_as_nobody(const struct walk_bounds *b, struct walk_root root)
{
	struct seen *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	pid_t child = fork();

	if (child == 0) {
		shared->rc = -2;
		if (geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0))
			*shared = look(b, root);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	struct seen s = *shared;
	munmap(shared, sizeof(*shared));
	return s;
}

static void touch(int at, const char *name, size_t bytes)
{
	auto_fd int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	auto_free char *text = mem_alloc(bytes);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, bytes), bytes);
}

static void make_dir(int at, const char *name)
{
	assert_int_equal(mkdirat(at, name, 0755), 0);
}

static uint64_t blocks(const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), 0);
	return (uint64_t)st.st_blocks * BLOCK;
}

/* A chain of directories named "d", a file in every tenth; names in all, its root included. */
static uint64_t make_chain(const char *top, unsigned depth)
{
	uint64_t names = 1;

	make_dir(dir, top);
	int at = openat(dir, top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; i < depth; i++, names++) {
		make_dir(at, "d");
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
		if (i % 10 == 0) {
			touch(at, "f", 100);
			names++;
		}
	}
	close(at);
	return names;
}

static void test_deep(void **state)
{
	(void)state;
	assert_int_equal(fchmod(dir, 0755), 0);
	uint64_t names = make_chain("chain", DEEP);
	struct seen all = look_at("chain");
	struct walk_root root = {.at = dir, .path = "chain"};

	assert_int_equal(all.rc, 0);
	assert_int_equal(all.reason, WALK_COMPLETE);
	assert_int_equal(all.entries, names);
	static const size_t open[] = {1, 2, 3, 8, 100, 4096};
	for (size_t i = 0; i < ARRAY_SIZE(open); i++) {
		struct walk_bounds b = {.max_dirs = open[i]};
		struct seen s = look(&b, root), as_user = look_as_nobody(&b, root);
		assert_memory_equal(&s, &all, sizeof(s));
		assert_memory_equal(&as_user, &all, sizeof(s));
	}
}

/* Their listings are read in pieces, between which they are closed. */
static void test_wide(void **state)
{
	(void)state;
	enum { DIRS = 1200 };
	char name[64];

	for (unsigned i = 0; i < DIRS; i++) {
		snprintf(name, sizeof(name), "a-directory-with-a-rather-long-name-%u", i);
		make_dir(dir, name);
		int at = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		make_dir(at, "below");
		close(at);
	}
	for (size_t open = 1; open < 4; open++) {
		struct seen s = look(&(struct walk_bounds){.max_dirs = open},
			(struct walk_root){.at = dir, .path = "."});
		assert_int_equal(s.reason, WALK_COMPLETE);
		assert_int_equal(s.entries, 1 + 2 * DIRS);
	}
}

/* While the walk is 20 deep, what it has to come back to is moved beside a large file outside. */
static void test_moved(void **state)
{
	(void)state;
	make_chain("tree", 40);
	make_dir(dir, "outside");
	touch(dir, "outside/large", 4 << 20);
	uint64_t whole = look_at("tree").bytes;
	pid_t mover = fork();

	if (mover == 0) {
		clock_sleep_ms(300);
		_exit(renameat(dir, "tree/d/d/d", dir, "outside/moved") == 0 ? 0 : 1);
	}
	fault_arm("walk:enter:20=sleep:900");
	struct seen s = look(&(struct walk_bounds){.max_dirs = 3},
		(struct walk_root){.at = dir, .path = "tree"});
	fault_arm(NULL);
	int status;
	assert_int_equal(waitpid(mover, &status, 0), mover);
	assert_int_equal(status, 0);
	assert_int_equal(s.reason, WALK_MOVED);
	assert_true(s.bytes <= whole);
}

/* tmpfs, a directory and a file bound inside: the walk is done in a mount namespace of its own. */
static void mounted_child(struct seen *found)
{
	bool made = unshare(CLONE_NEWNS) == 0 &&
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && chdir(path) == 0 &&
		    mount("t", "t/tmp fs", "tmpfs", 0, NULL) == 0 &&
		    mount("other", "t/bound", NULL, MS_BIND, NULL) == 0 &&
		    mount("other/f", "t/file", NULL, MS_BIND, NULL) == 0;

	if (!made)
		_exit(1);
	auto_fd int fd = open("t/tmp fs/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	auto_free char *bytes = mem_alloc(FILE_BYTES);
	if (write(fd, bytes, FILE_BYTES) != FILE_BYTES)
		_exit(1);
	/* dir belongs to the namespace before. */
	int again = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i <= WALK_BORDERS_DEVICE; i++)
		found[i] = look(&(struct walk_bounds){.borders = (enum walk_borders)i},
			(struct walk_root){.at = again, .path = "t"});
	_exit(0);
}

static void test_mounts(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	static const char *const dirs[] = {"t", "t/tmp fs", "t/bound", "t/bound-not", "other"};
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		make_dir(dir, dirs[i]);
	touch(dir, "t/file", 10);
	touch(dir, "t/own", FILE_BYTES);
	touch(dir, "other/f", FILE_BYTES);
	struct seen *found = mmap(NULL, 3 * sizeof(*found), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t own = blocks("t") + blocks("t/own") + blocks("t/bound-not");
	pid_t child = fork();
	if (child == 0)
		mounted_child(found);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (size_t i = 0; i <= WALK_BORDERS_MOUNTINFO; i++) {
		assert_int_equal(found[i].reason, WALK_COMPLETE);
		assert_int_equal(found[i].bytes, own);
		assert_int_equal(found[i].entries, 3);
	}
	/* Only another filesystem is seen by its number: what is bound counts. */
	assert_int_equal(found[WALK_BORDERS_DEVICE].entries, 6);
	munmap(found, 3 * sizeof(*found));
}

static void test_names(void **state)
{
	(void)state;
	static const char *const names[] = {"\xff\xfe", "a\nb", " ", "\x1b[31m", "...", "-", ".a"};

	make_dir(dir, "\xc3");
	touch(dir, "\xc3/\xc3", 1);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		touch(dir, names[i], 1);
	struct seen s = look_at(".");
	assert_int_equal(s.reason, WALK_COMPLETE);
	assert_int_equal(s.entries, 3 + ARRAY_SIZE(names));
}

static void churn(void)
{
	for (unsigned i = 0;; i++) {
		char name[32], below[64];
		snprintf(name, sizeof(name), "%u", i % 50);
		snprintf(below, sizeof(below), "%s/%u", name, i % 7);
		(void)mkdirat(dir, name, 0700);
		(void)mkdirat(dir, below, 0700);
		(void)unlinkat(dir, below, AT_REMOVEDIR);
		if (i % 3 == 0)
			(void)unlinkat(dir, name, AT_REMOVEDIR);
	}
}

static void test_deletes(void **state)
{
	(void)state;
	int64_t until = clock_boottime_ms() + 500;
	pid_t child = fork();

	if (child == 0)
		churn();
	for (size_t n = 1; clock_boottime_ms() < until; n++) {
		/* Enough for the depth: the way back out of a directory that is gone is `moved`. */
		struct seen s = look(&(struct walk_bounds){.max_dirs = 4 + n % 4},
			(struct walk_root){.at = dir, .path = "."});
		if (s.rc != 0 || s.reason != WALK_COMPLETE) {
			kill(child, SIGKILL);
			waitpid(child, NULL, 0);
			fail_msg("%d %s", s.rc, walk_reason_text(s.reason));
		}
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_unreadable(void **state)
{
	(void)state;
	struct walk_root root = {.at = dir, .path = "."};

	if (geteuid() != 0)
		skip();
	assert_int_equal(fchmod(dir, 0755), 0);
	make_dir(dir, "closed");
	make_dir(dir, "listed");
	touch(dir, "listed/f", FILE_BYTES);
	touch(dir, "closed/f", FILE_BYTES);
	assert_int_equal(fchmodat(dir, "closed", 0, 0), 0);
	/* Its names may be read, and nothing of what has them. */
	assert_int_equal(fchmodat(dir, "listed", 0444, 0), 0);
	struct seen s = look_as_nobody(&(struct walk_bounds){0}, root);
	assert_int_equal(s.rc, 0);
	assert_int_equal(s.reason, WALK_UNREADABLE);
	assert_int_equal(s.n_unreadable, 2);
	assert_int_equal(s.bytes, blocks(".") + blocks("closed") + blocks("listed"));
	assert_int_equal(s.entries, 3);
	assert_true(strcmp(s.first, "closed") == 0 || strcmp(s.first, "listed") == 0);
	/* Root reads all of it. */
	s = look_at(".");
	assert_int_equal(s.reason, WALK_COMPLETE);
	assert_int_equal(s.entries, 5);
	/* The root itself: also a lower bound, not an error. */
	root.path = "closed";
	s = look_as_nobody(&(struct walk_bounds){0}, root);
	assert_int_equal(s.rc, 0);
	assert_int_equal(s.reason, WALK_UNREADABLE);
	assert_string_equal(s.first, ".");
	assert_int_equal(s.entries, 1);
}

static void test_roots(void **state)
{
	(void)state;
	make_dir(dir, "real");
	touch(dir, "file", 1);
	assert_int_equal(symlinkat("real", dir, "link"), 0);
	static const char *const none[] = {"missing", "file", "link"};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct walk_root root = {.at = dir, .path = none[i]};
		assert_int_equal(look(&(struct walk_bounds){0}, root).rc, -1);
		root.optional = true;
		struct seen s = look(&(struct walk_bounds){0}, root);
		assert_int_equal(s.rc, 0);
		assert_int_equal(s.reason, WALK_COMPLETE);
		assert_int_equal(s.bytes, 0);
		assert_int_equal(s.entries, 0);
	}
}

/* Over all roots of one measurement; a link that lives elsewhere does not help. */
static void test_links(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(walk_result) a = {0};
	AUTO(walk_result) b = {0};
	AUTO_PTR(walk) w = walk_new(&(struct walk_bounds){0});

	make_dir(dir, "a");
	make_dir(dir, "b");
	touch(dir, "elsewhere", FILE_BYTES);
	assert_int_equal(linkat(dir, "elsewhere", dir, "a/f", 0), 0);
	assert_int_equal(linkat(dir, "elsewhere", dir, "a/g", 0), 0);
	assert_int_equal(linkat(dir, "elsewhere", dir, "b/f", 0), 0);
	assert_done(walk_root(w, &(struct walk_root){.at = dir, .path = "a"}, &a, &err), &err);
	assert_done(walk_root(w, &(struct walk_root){.at = dir, .path = "b"}, &b, &err), &err);
	assert_int_equal(a.bytes, blocks("a") + blocks("elsewhere"));
	assert_int_equal(a.entries, 3);
	assert_int_equal(b.bytes, blocks("b"));
	assert_int_equal(b.entries, 2);
	struct stat st;
	assert_int_equal(fstatat(dir, "a", &st, 0), 0);
	assert_true(walk_met_device(w, st.st_dev));
	assert_false(walk_met_device(w, st.st_dev + 1));
}

/* More than the set begins with. */
static void test_many_links(void **state)
{
	(void)state;
	enum { FILES = 400 };
	char name[32];

	make_dir(dir, "t");
	for (unsigned i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "t/f%u", i);
		touch(dir, name, 1);
		char link[32];
		snprintf(link, sizeof(link), "t/g%u", i);
		assert_int_equal(linkat(dir, name, dir, link, 0), 0);
	}
	struct seen s = look_at("t");
	assert_int_equal(s.entries, 1 + 2 * FILES);
	assert_int_equal(s.bytes, blocks("t") + FILES * blocks("t/f0"));
	assert_int_equal(s.reason, WALK_COMPLETE);
	/* Too many to remember: by shares, which here are all in the tree. */
	struct seen shares = look(
		&(struct walk_bounds){.max_links = 1}, (struct walk_root){.at = dir, .path = "t"});
	assert_int_equal(shares.reason, WALK_ERROR);
	assert_int_equal(shares.bytes, s.bytes);
	assert_int_equal(shares.entries, s.entries);
	/* And never more than the file where some are elsewhere. */
	make_dir(dir, "out");
	assert_int_equal(renameat(dir, "t/g0", dir, "out/g0"), 0);
	assert_int_equal(renameat(dir, "t/g399", dir, "out/g399"), 0);
	shares = look(
		&(struct walk_bounds){.max_links = 1}, (struct walk_root){.at = dir, .path = "t"});
	assert_true(shares.bytes < s.bytes);
	assert_true(shares.bytes >= s.bytes - blocks("t/f0"));
}

/* A file without a name is not hidden by many with several. */
static void test_first_time(void **state)
{
	(void)state;
	AUTO_PTR(walk) w = walk_new(&(struct walk_bounds){.max_links = 1});

	for (uint64_t inode = 1; inode < 1 << 16; inode += 100)
		assert_true(walk_first_time(w, 1, inode));
	for (uint64_t inode = 1; inode < 1 << 16; inode += 100)
		assert_false(walk_first_time(w, 1, inode));
	assert_true(walk_first_time(w, 2, 1));
}

static bool is_true(void *data)
{
	return *(const bool *)data;
}

static void test_bounds(void **state)
{
	(void)state;
	bool cancel = true;

	make_chain("chain", 20);
	struct walk_root root = {.at = dir, .path = "chain"};
	struct seen s = look(&(struct walk_bounds){.deadline_ms = clock_boottime_ms()}, root);
	assert_int_equal(s.rc, 0);
	assert_int_equal(s.reason, WALK_DEADLINE);
	assert_int_equal(s.entries, 1);
	assert_int_equal(s.bytes, blocks("chain"));
	assert_int_equal(
		look(&(struct walk_bounds){.cancelled = is_true, .data = &cancel}, root).rc, 1);
	cancel = false;
	assert_int_equal(
		look(&(struct walk_bounds){.cancelled = is_true, .data = &cancel}, root).rc, 0);
}

/* Descriptors run out before the walk's own bound: it makes do with what is left. */
static void test_few_descriptors(void **state)
{
	(void)state;
	int held[1024];
	size_t n = 0;

	uint64_t names = make_chain("chain", 60);
	while (n < ARRAY_SIZE(held)) {
		int fd = fcntl(dir, F_DUPFD_CLOEXEC, 0);
		if (fd < 0 || fd >= 1000)
			break;
		held[n++] = fd;
	}
	struct rlimit before, low;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = (rlim_t)held[n - 1] + 1 + 12;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	struct seen s = look(&(struct walk_bounds){.max_dirs = 4096},
		(struct walk_root){.at = dir, .path = "chain"});
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	while (n > 0)
		close(held[--n]);
	assert_int_equal(s.reason, WALK_COMPLETE);
	assert_int_equal(s.entries, names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_deep),
		IN_DIR(test_wide),
		IN_DIR(test_moved),
		IN_DIR(test_mounts),
		IN_DIR(test_names),
		IN_DIR(test_deletes),
		IN_DIR(test_unreadable),
		IN_DIR(test_roots),
		IN_DIR(test_links),
		IN_DIR(test_many_links),
		cmocka_unit_test(test_first_time),
		IN_DIR(test_bounds),
		IN_DIR(test_few_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
