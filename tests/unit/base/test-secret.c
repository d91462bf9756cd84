#include "unit/unit.h"
#include "unit/unit-locks.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/secret.h"

static void test_concat(void **state)
{
	(void)state;
	AUTO(secret) s = {.p = NULL};

	SECRET_CONCAT(&s, TEXT("user"), TEXT(""), (struct text){NULL, 0}, TEXT(":"), TEXT("a\0b"));
	assert_int_equal(s.len, 8);
	assert_memory_equal(s.p, "user:a\0b", 9);
	assert_ptr_equal(secret_text(&s).p, s.p);
	secret_done(&s);
	assert_null(s.p);
	assert_int_equal(s.len, 0);
	SECRET_CONCAT(&s, TEXT(""));
	assert_int_equal(s.len, 0);
	assert_string_equal(s.p, "");
}

static uintptr_t read_hex(const char **at)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	uintptr_t n = 0;

	for (; **at && (digit = strchr(digits, **at)); ++*at)
		n = n << 4 | (uintptr_t)(digit - digits);
	return n;
}

static bool is_mapping(const char *line, const char *byte)
{
	uintptr_t first = read_hex(&line), end = 0;

	if (*line == '-') {
		line++;
		end = read_hex(&line);
	}
	return (uintptr_t)byte >= first && (uintptr_t)byte < end;
}

/* The kernel says this of the memory: `lo` locked, `dd` in no core dump. */
static bool has_flag(const char *byte, const char *flag)
{
	auto_file FILE *f = fopen("/proc/self/smaps", "re");
	char line[512];
	bool here = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (strchr(line, '-') && strchr("0123456789abcdef", line[0]))
			here = is_mapping(line, byte);
		if (here && strncmp(line, "VmFlags:", strlen("VmFlags:")) == 0)
			return strstr(line, flag) != NULL;
	}
	return false;
}

static void test_memory_is_locked(void **state)
{
	AUTO(secret) small = {.p = NULL};
	AUTO(secret) large = {.p = NULL};

	(void)state;
	SECRET_CONCAT(&small, TEXT("x"));
	secret_make(10000, &large);
	assert_int_equal(large.len, 10000);
	assert_int_equal(large.p[0] | large.p[10000], 0);
	memset(large.p, 'x', large.len);
	assert_true(has_flag(small.p, " dd"));
	assert_int_equal(has_flag(small.p, " lo"), LOCKS);
	assert_int_equal(has_flag(large.p, " lo"), LOCKS);
	assert_int_equal(has_flag(large.p + 9999, " lo"), LOCKS);
	assert_true(has_flag(large.p, " dd") && has_flag(large.p + 9999, " dd"));
}

/* Where nothing may be locked, secrets are kept all the same. */
static void test_without_the_right_to_lock(void **state)
{
	static const struct rlimit none = {0, 0};
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		AUTO(secret) s = {.p = NULL};
		/* Root may lock whatever the limit is. */
		if (setrlimit(RLIMIT_MEMLOCK, &none) < 0 ||
			(geteuid() == 0 && setresuid(65534, 65534, 65534) < 0))
			_exit(2);
		SECRET_CONCAT(&s, TEXT("value"));
		_exit(strcmp(s.p, "value") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_concat),
		cmocka_unit_test(test_memory_is_locked),
		cmocka_unit_test(test_without_the_right_to_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
