/* What cosign says, made fit for people (image-trust.md §8.1, §8.2); which keys it may be given. */
#include "unit/sys/unit-dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "image/cosign-key.h"
#include "image/cosign.h"

static void test_last_line(void **state)
{
	(void)state;
	static const struct {
		struct text output;
		const char *line;
	} rows[] = {
		{TEXT(""), ""},
		{TEXT("\n \r\n\t\n"), ""},
		{TEXT("one"), "one"},
		{TEXT("one\ntwo \r\n\n"), "two"},
		{TEXT("one\n\x1b[31m\0\x7f"), "\\x1b[31m\\x00\\x7f"},
		{TEXT("\xc3\xa9 \xc2\x9b \xff"), "\xc3\xa9 \\xc2\\x9b \\xff"},
	};
	char line[COSIGN_LINE_MAX + 1], long_one[3 * COSIGN_LINE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cosign_last_line(rows[i].output, line);
		assert_string_equal(line, rows[i].line);
	}
	for (size_t i = 0; i < 2; i++) {
		memset(long_one, i ? 'a' : 1, sizeof(long_one));
		cosign_last_line((struct text){long_one, sizeof(long_one)}, line);
		assert_int_equal(strlen(line), COSIGN_LINE_MAX);
	}
	for (size_t i = 0; i + 1 < sizeof(long_one); i += 2)
		memcpy(long_one + i, "\xc3\xa9", 2);
	cosign_last_line((struct text){long_one + 1, sizeof(long_one) - 1}, line);
	assert_true(strlen(line) <= COSIGN_LINE_MAX && utf8_valid(text_of(line)));
}

static void test_version(void **state)
{
	(void)state;
	static const struct {
		struct text output;
		const char *version;
		bool old;
	} rows[] = {
		{TEXT("  ____\ncosign: A tool\n\nGitVersion:    v2.4.1\nGitCommit: x\n"), "v2.4.1",
			true},
		{TEXT("GitVersion:    v3.1.3"), "v3.1.3", false},
		{TEXT("GitVersion: v10.0.0-rc.1"), "v10.0.0-rc.1", false},
		{TEXT("GitVersion: devel"), "", false},
		{TEXT("GitVersion: v2\x1b[0m"), "", false},
		{TEXT("GitVersion: v1234567890123456789012345678901234567890"), "", false},
		{TEXT(""), "", false},
	};
	char version[COSIGN_VERSION_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cosign_version_of(rows[i].output, version);
		assert_string_equal(version, rows[i].version);
		assert_int_equal(cosign_version_is_old(version), rows[i].old);
	}
}

static void write_key(size_t n, mode_t mode)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *bytes = mem_alloc(n + 1);

	assert_done(file_replace_at(
			    dir, "k", mode, (struct text){memset(bytes, 'k', n), n}, false, &err),
		&err);
	assert_int_equal(fchmodat(dir, "k", mode, 0), 0);
}

static void expect(const char *name, const char *refusal)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *file = mem_printf("%s/%s", path, name);
	struct cosign_key key;
	int r = cosign_key_read(file, &key, &err);

	assert_int_equal(r, refusal ? -1 : 0);
	if (refusal) {
		assert_non_null(strstr(err.message, refusal));
		assert_non_null(strstr(err.message, file));
	}
}

static void test_keys(void **state)
{
	(void)state;
	expect("k", "missing");
	write_key(3, 0644);
	expect("k", NULL);
	write_key(COSIGN_KEY_MAX_BYTES, 0400);
	expect("k", NULL);
	write_key(COSIGN_KEY_MAX_BYTES + 1, 0644);
	expect("k", "64 KiB");
	write_key(3, 0664);
	expect("k", "written");
	write_key(3, 0646);
	expect("k", "written");
	write_key(3, 0644);
	assert_int_equal(symlinkat("k", dir, "l"), 0);
	expect("l", NULL);
	expect(".", "no regular file");
	expect("k/x", "missing");
	assert_int_equal(mkfifoat(dir, "f", 0600), 0);
	expect("f", "no regular file");
	assert_int_equal(fchmod(dir, 0770), 0);
	expect("k", "directory");
	assert_int_equal(mkdirat(dir, "d", 0700), 0);
	assert_int_equal(symlinkat("../k", dir, "d/l"), 0);
	expect("d/l", "directory");
	assert_int_equal(fchmod(dir, 01777), 0);
	expect("k", NULL);
	expect("d/l", NULL);
	assert_int_equal(fchmodat(dir, "d", 0707, 0), 0);
	expect("d/l", "directory");
}

static void change_nothing(void)
{
}

static void replace_it(void)
{
	write_key(3, 0644);
}

static void move_it(void)
{
	assert_int_equal(renameat(dir, "k", dir, "away"), 0);
	assert_int_equal(renameat(dir, "away", dir, "k"), 0);
}

static void remove_it(void)
{
	assert_int_equal(unlinkat(dir, "k", 0), 0);
}

static void overwrite_it(void)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int fd = openat(dir, "k", O_WRONLY | O_CLOEXEC);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	assert_done(file_write_all(fd, "abc", 3, &err), &err);
	assert_int_equal(futimens(fd, (struct timespec[]){st.st_atim, st.st_mtim}), 0);
}

static void test_key_again(void **state)
{
	(void)state;
	static const struct {
		void (*change)(void);
		const char *refusal;
	} rows[] = {{change_nothing, NULL}, {replace_it, "was changed"}, {move_it, "was changed"},
		{overwrite_it, "was changed"}, {remove_it, "missing"}};
	auto_free char *file = mem_printf("%s/k", path);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		auto_error struct error err = ERROR_INIT;
		struct cosign_key key;
		write_key(3, 0644);
		assert_done(cosign_key_read(file, &key, &err), &err);
		usleep(20000); /* a tick of the file system's clock */
		rows[i].change();
		int r = cosign_key_look_again(file, &key, &err);
		assert_int_equal(r, rows[i].refusal ? -1 : 0);
		if (r < 0)
			assert_non_null(strstr(err.message, rows[i].refusal));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_line),
		cmocka_unit_test(test_version),
		IN_DIR(test_keys),
		IN_DIR(test_key_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
