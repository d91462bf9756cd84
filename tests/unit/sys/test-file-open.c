#include "unit/unit.h"

#include <errno.h>

#include "base/mem.h"
#include "sys/file-internal.h"
#include "sys/file.h"
#include "unit/sys/unit-dir.h"

enum { STRICT = FILE_BENEATH | FILE_NO_SYMLINKS | FILE_NO_MAGICLINKS };

static void make_tree(void)
{
	assert_int_equal(mkdirat(dir, "d", 0700), 0);
	assert_int_equal(mkdirat(dir, "d/e", 0700), 0);
	close(openat(dir, "d/f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(symlinkat("d", dir, "to-d"), 0);
	assert_int_equal(symlinkat("d/f", dir, "to-f"), 0);
	assert_int_equal(symlinkat("/etc/passwd", dir, "away"), 0);
	assert_int_equal(symlinkat("nothing", dir, "dangling"), 0);
	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
}

static char long_name[300];

static const struct row {
	const char *path;
	int flags;
	int errnum; /* 0 = opens */
} rows[] = {
	{"d/f", O_RDONLY, 0},
	{"./d//f", O_RDONLY, 0},
	{"d", O_RDONLY, 0},
	{"d/", O_RDONLY, 0},
	{"d/.", O_RDONLY, 0},
	{".", O_RDONLY, 0},
	{"./", O_RDONLY, 0},
	{"d/e", O_RDONLY | O_DIRECTORY, 0},
	{"d/e", O_PATH, 0},
	{"fifo", O_RDONLY | O_NONBLOCK, 0},
	{"", O_RDONLY, ENOENT},
	{"x", O_RDONLY, ENOENT},
	{"x/y", O_RDONLY, ENOENT},
	{"d/f/", O_RDONLY, ENOTDIR},
	{"d/f/x", O_RDONLY, ENOTDIR},
	{"d/f", O_RDONLY | O_DIRECTORY, ENOTDIR},
	{"d", O_WRONLY, EISDIR},
	{"/etc/passwd", O_RDONLY, EXDEV},
	{"..", O_RDONLY, EXDEV},
	{"../x", O_RDONLY, EXDEV},
	{"d/../../x", O_RDONLY, EXDEV},
	{"to-f", O_RDONLY, ELOOP},
	{"to-f", O_RDONLY | O_NOFOLLOW, ELOOP},
	{"to-f", O_PATH, ELOOP},
	{"to-f", O_PATH | O_NOFOLLOW, 0},
	{"to-d", O_RDONLY | O_DIRECTORY, ELOOP},
	{"to-d/f", O_RDONLY, ELOOP},
	{"away", O_RDONLY, ELOOP},
	{"dangling", O_RDONLY, ELOOP},
	{"dangling", O_WRONLY | O_CREAT, ELOOP},
	{"d/f", O_WRONLY | O_CREAT | O_EXCL, EEXIST},
	{long_name, O_RDONLY, ENAMETOOLONG},
};

static void judge(const struct row *row, const char *how, int fd)
{
	int got = fd < 0 ? errno : 0;

	if (got != row->errnum)
		fail_msg("%s: %s: %s, expected %s", how, row->path, strerror(got),
			strerror(row->errnum));
	if (fd >= 0)
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
}

/* The kernel's walk and ours give the same answers. */
static void test_strict(void **state)
{
	(void)state;
	make_tree();
	memset(long_name, 'n', sizeof(long_name) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_fd int kernel = file_open_at(dir, rows[i].path, rows[i].flags, 0600, STRICT);
		judge(&rows[i], "openat2", kernel);
		auto_fd int ours = file_open_by_component(dir, rows[i].path, rows[i].flags, 0600);
		judge(&rows[i], "walk", ours);
		struct stat a, b;
		if (kernel >= 0 && fstat(kernel, &a) == 0 && fstat(ours, &b) == 0)
			assert_true(file_same(&a, &b));
	}
}

static void test_create(void **state)
{
	(void)state;
	mode_t before = umask(022);
	auto_fd int a = file_open_at(dir, "a", O_WRONLY | O_CREAT | O_EXCL, 0666, STRICT);
	auto_fd int b = file_open_by_component(dir, "b", O_WRONLY | O_CREAT | O_EXCL, 0666);
	struct stat st;

	umask(before);
	assert_true(a >= 0 && b >= 0);
	assert_true(fstat(a, &st) == 0 && st.st_mode == (S_IFREG | 0644));
	assert_true(fstat(b, &st) == 0 && st.st_mode == (S_IFREG | 0644));
}

static void test_other_rules(void **state)
{
	(void)state;
	make_tree();
	auto_fd int link = file_open_at(dir, "to-f", O_RDONLY, 0, FILE_BENEATH);
	assert_true(link >= 0);
	auto_fd int rooted = file_open_at(dir, "/d/../../../d/f", O_RDONLY, 0, FILE_IN_ROOT);
	assert_true(rooted >= 0);
	auto_fd int away = file_open_at(dir, "away", O_RDONLY, 0, FILE_IN_ROOT);
	assert_true(away < 0 && errno == ENOENT);
	auto_fd int free = file_open_at(dir, "away", O_RDONLY, 0, 0);
	assert_true(free >= 0);
}

static void test_resolved(void **state)
{
	(void)state;
	static const struct {
		const char *below;
		int why; /* 0: it opens */
	} cases[] = {{"", 0}, {"/real/inner", 0}, {"/way/inner", ELOOP}, {"/real/way", ELOOP},
		{"/real/none", ENOENT}, {"/real/file", ENOTDIR}};

	assert_int_equal(mkdirat(dir, "real", 0755), 0);
	assert_int_equal(mkdirat(dir, "real/inner", 0755), 0);
	assert_int_equal(symlinkat("real", dir, "way"), 0);
	assert_int_equal(symlinkat("inner", dir, "real/way"), 0);
	auto_fd int file = openat(dir, "real/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(file >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *whole = mem_printf("%s%s", path, cases[i].below);
		auto_fd int fd = file_open_resolved(whole, O_PATH);
		int why = fd < 0 ? errno : 0;
		if (why != cases[i].why && !(cases[i].why == ELOOP && why == ENOTDIR))
			fail_msg("%s: %d", cases[i].below, why);
	}
	auto_fd int root = file_open_resolved("/", O_RDONLY);
	assert_true(root >= 0);
	assert_true(file_open_resolved("relative", O_PATH) < 0 && errno == EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_strict), IN_DIR(test_create),
		IN_DIR(test_other_rules), IN_DIR(test_resolved)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
