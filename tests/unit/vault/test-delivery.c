/* What touches the host to deliver secrets: device nodes, disks in use, repositories. */
#include "unit/unit.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "sys/file.h"
#include "vault/device-node.h"
#include "vault/device-open.h"
#include "vault/device-use.h"
#include "vault/local-repo-list.h"

struct place {
	char path[64];
	int fd;
};

static int make_place(void **state)
{
	struct place *p = mem_alloc(sizeof(*p));

	memcpy(p->path, "/tmp/cloop-vault-XXXXXX", sizeof("/tmp/cloop-vault-XXXXXX"));
	assert_non_null(mkdtemp(p->path));
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p->fd >= 0);
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;
	auto_error struct error err = ERROR_INIT;

	close(p->fd);
	auto_fd int above = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_done(file_remove_tree_at(above, p->path + strlen("/tmp/"), &err), &err);
	free(p);
	return 0;
}

static void make_dirs(const struct place *p, const char *path)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *whole = mem_printf("%s/%s", p->path, path);

	assert_done(file_make_dirs(whole, 0700, &err), &err);
}

static void put(const struct place *p, const char *path, const char *text)
{
	auto_free char *whole = mem_printf("%s/%s", p->path, path);
	auto_file FILE *f = fopen(whole, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

/* ---- Device nodes ---- */

static void test_find(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(device_found) d = {.path = NULL};

	assert_done(device_open_find("/dev/zero", &d, &err), &err);
	assert_string_equal(d.path, "/dev/zero");
	assert_int_equal(d.node.type, DEVICE_CHAR);
	assert_true(d.rdev == makedev(1, 5) && d.node.major == 1 && d.node.minor == 5);
	assert_string_equal(d.node.subsystem, "mem");
	assert_int_equal(device_open_find("/dev/no-such-device", &d, &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_MISSING);
	assert_int_equal(device_open_find("/dev/zero/x", &d, &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_MISSING);
	/* Its standard input: a magic link of /proc. */
	assert_int_equal(device_open_find("/dev/stdin", &d, &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_OUTSIDE_DEV);
	assert_int_equal(device_open_find("/dev/../etc/passwd", &d, &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_OUTSIDE_DEV);
}

static void test_standard(void **state)
{
	(void)state;
	static const char *const paths[] = {
		"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(device_found) d = {.path = NULL};
		assert_done(device_open_find(paths[i], &d, &err), &err);
		for (size_t k = 0; k < ARRAY_SIZE(paths); k++)
			assert_int_equal(device_node_standard(&d.node, text_of(paths[k])), i == k);
		assert_false(device_node_standard(&d.node, TEXT("/dev/null0")));
	}
	struct device_node disk = {.type = DEVICE_BLOCK, .major = 1, .minor = 3};
	assert_false(device_node_standard(&disk, TEXT("/dev/null")));
}

static void test_again(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	assert_done(device_open_again("/dev/null", false, makedev(1, 3), &err), &err);
	assert_int_equal(device_open_again("/dev/null", true, makedev(1, 3), &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_CHANGED);
	assert_int_equal(device_open_again("/dev/null", false, makedev(1, 5), &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_CHANGED);
	assert_int_equal(device_open_again("/dev/no-such-device", false, makedev(1, 3), &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_CHANGED);
}

/* ---- Disks in use, by a root of our own ---- */

#define MOUNT_LINE(number, source) \
	"29 1 " number " / /mnt rw,relatime shared:1 - ext4 " source " rw\n"
static const char no_swaps[] = "Filename Type Size Used Priority\n";

static void make_disk(const struct place *p)
{
	make_dirs(p, "sys/dev/block/8:16/holders");
	make_dirs(p, "sys/dev/block/8:16/queue");
	make_dirs(p, "sys/dev/block/8:16/sdb1/holders");
	put(p, "sys/dev/block/8:16/sdb1/partition", "1\n");
	put(p, "sys/dev/block/8:16/sdb1/dev", "8:17\n");
	make_dirs(p, "proc/self");
	make_dirs(p, "dev");
	put(p, "proc/self/mountinfo", MOUNT_LINE("8:1", "/dev/sda1"));
	put(p, "proc/swaps", no_swaps);
}

static bool used(const struct place *p)
{
	return device_use_block(p->fd, makedev(8, 16));
}

static void test_mounted(void **state)
{
	struct place *p = *state;

	make_disk(p);
	assert_false(used(p));
	assert_false(device_use_block(p->fd, makedev(8, 16)));
	put(p, "proc/self/mountinfo", MOUNT_LINE("8:1", "/dev/sda1") MOUNT_LINE("8:16", "x"));
	assert_true(used(p));
	put(p, "proc/self/mountinfo", MOUNT_LINE("8:17", "/dev/sdb1"));
	assert_true(used(p));
	put(p, "proc/self/mountinfo", MOUNT_LINE("8:170", "/dev/sdk10"));
	assert_false(used(p));
}

static void test_held(void **state)
{
	struct place *p = *state;

	make_disk(p);
	make_dirs(p, "sys/dev/block/8:16/sdb1/holders/dm-0");
	assert_true(used(p));
}

static void test_held_whole(void **state)
{
	struct place *p = *state;

	make_disk(p);
	make_dirs(p, "sys/dev/block/8:16/holders/md0");
	assert_true(used(p));
}

static void test_unknown(void **state)
{
	struct place *p = *state;

	make_disk(p);
	assert_true(device_use_block(p->fd, makedev(8, 32)));
	put(p, "proc/swaps", "");
	assert_false(used(p));
	assert_int_equal(unlinkat(p->fd, "proc/swaps", 0), 0);
	assert_true(used(p));
}

/* Needs a node, which not everybody may make. */
static void test_by_node(void **state)
{
	struct place *p = *state;

	make_disk(p);
	if (mknodat(p->fd, "dev/sdb1", S_IFBLK | 0600, makedev(8, 17)) < 0)
		skip();
	put(p, "proc/swaps", "Filename Type Size Used Priority\n/dev/sdb1 partition 1 0 -2\n");
	assert_true(used(p));
	put(p, "proc/swaps", no_swaps);
	put(p, "proc/self/mountinfo", MOUNT_LINE("0:42", "/dev/sdb1"));
	assert_true(used(p));
	put(p, "proc/self/mountinfo", MOUNT_LINE("0:42", "dev/sdb1"));
	assert_false(used(p));
}

/* ---- Repositories ---- */

static void list(const struct place *p, const char *below, const char *pattern,
	struct local_repos *ret, struct error *err)
{
	AUTO(strv) patterns = STRV_INIT(1);
	auto_free char *root = mem_printf("%s%s", p->path, below);

	strv_add(&patterns, pattern);
	if (local_repo_list(text_of(root), &patterns, ret, err) == 0)
		assert_int_equal(err->code, ERROR_NONE);
}

static void test_repositories(void **state)
{
	struct place *p = *state;
	auto_error struct error err = ERROR_INIT;
	AUTO(local_repos) r = {.v = NULL};

	make_dirs(p, "git/b/.git");
	make_dirs(p, "git/a.git/objects");
	put(p, "git/a.git/HEAD", "ref: refs/heads/main\n");
	make_dirs(p, "git/half/objects");
	make_dirs(p, "git/plain");
	make_dirs(p, "git/work");
	put(p, "git/work/.git", "gitdir: ../b/.git/worktrees/work\n");
	make_dirs(p, "git/.hidden/.git");
	make_dirs(p, "outside/.git");
	put(p, "git/file", "");
	assert_int_equal(symlinkat("../outside", p->fd, "git/out"), 0);
	assert_int_equal(symlinkat("b", p->fd, "git/in"), 0);
	assert_int_equal(symlinkat(".", p->fd, "git/self"), 0);
	assert_int_equal(symlinkat("nowhere", p->fd, "git/dangling"), 0);
	list(p, "/git", "*", &r, &err);
	assert_int_equal(r.n, 4);
	static const char *const names[] = {"a.git", "b", "in", "work"};
	static const char *const sources[] = {"a.git", "b", "b", "work"};
	for (size_t i = 0; i < r.n; i++) {
		auto_free char *source = mem_printf("%s/git/%s", p->path, sources[i]);
		assert_string_equal(r.v[i].name, names[i]);
		assert_string_equal(r.v[i].source, source);
	}
}

static void test_no_repositories(void **state)
{
	struct place *p = *state;
	auto_error struct error err = ERROR_INIT;
	AUTO(local_repos) r = {.v = NULL};

	list(p, "", "*", &r, &err);
	assert_int_equal(err.code, ERROR_LOCAL_REPO_NONE);
	list(p, "/missing", "*", &r, &err);
	assert_int_equal(err.code, ERROR_SECRET_PAYLOAD_INVALID);
	put(p, "file", "");
	list(p, "/file", "*", &r, &err);
	assert_int_equal(err.code, ERROR_SECRET_PAYLOAD_INVALID);
	list(p, "/../..", "*", &r, &err);
	assert_int_equal(err.code, ERROR_SECRET_PAYLOAD_INVALID);
	assert_null(r.v);
	for (int i = 0; i < 33; i++) {
		auto_free char *name = mem_printf("git/r%02d/.git", i);
		make_dirs(p, name);
	}
	list(p, "/git", "*", &r, &err);
	assert_int_equal(err.code, ERROR_LOCAL_REPO_TOO_MANY);
	error_clear(&err);
	list(p, "/git", "r0*", &r, &err);
	assert_int_equal(r.n, 10);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_standard),
		cmocka_unit_test(test_again),
		WITH_PLACE(test_mounted),
		WITH_PLACE(test_held),
		WITH_PLACE(test_held_whole),
		WITH_PLACE(test_unknown),
		WITH_PLACE(test_by_node),
		WITH_PLACE(test_repositories),
		WITH_PLACE(test_no_repositories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
