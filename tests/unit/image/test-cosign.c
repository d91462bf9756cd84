/* What cosign says, made fit for people (image-trust.md §8.1, §8.2); which keys it may be given. */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

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
	char hash[SHA256_HEX_SIZE];
	int r = cosign_key_hash(file, hash, &err);

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
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_line),
		cmocka_unit_test(test_version),
		IN_DIR(test_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
