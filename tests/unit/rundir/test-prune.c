#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "executor/rundir/prune.h"
#include "executor/rundir/record.h"
#include "sys/clock.h"

#define FINAL "{\"state\": \"exited\", \"outcome\": \"ok\"}"
#define RUNNING "{\"state\": \"running\"}"

static struct home home = HOME_INIT;

static int home_setup(void **state)
{
	auto_error struct error err = ERROR_INIT;

	return dir_setup(state) < 0 || home_open(path, &home, &err) < 0 ? -1 : 0;
}

static int home_teardown(void **state)
{
	home_done(&home);
	return dir_teardown(state);
}

static void write_file(unsigned number, const char *name, const char *text)
{
	auto_free char *file = mem_printf("c-%012x/%s", number, name);
	auto_fd int fd = openat(home.runs_fd, file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* The run's number is its age: a greater one was made later. */
static void make_run(unsigned number, const char *record)
{
	const struct timespec made[2] = {{.tv_sec = 1000 + number}, {.tv_sec = 1000 + number}};
	auto_free char *name = mem_printf("c-%012x", number);
	auto_free char *request = mem_printf("%s/request.json", name);

	assert_int_equal(mkdirat(home.runs_fd, name, 0700), 0);
	write_file(number, "request.json", "{}");
	write_file(number, RECORD_FILE, record);
	write_file(number, RUNDIR_IMPORTED_FILE, clock_boot_id());
	assert_int_equal(utimensat(home.runs_fd, request, made, 0), 0);
}

static bool there(unsigned number)
{
	auto_free char *name = mem_printf("c-%012x", number);

	return faccessat(home.runs_fd, name, F_OK, 0) == 0;
}

static size_t count(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) all = STRV_INIT(RUNDIR_RUNS_MAX);

	assert_done(rundir_handles(&home, &all, &err), &err);
	return all.n;
}

static void test_oldest_first(void **state)
{
	(void)state;

	for (unsigned i = 0; i < 256; i++)
		make_run(i * 7 % 256, FINAL);
	prune_runs(&home);
	assert_int_equal(count(), 256);
	assert_int_equal(faccessat(home.fd, "finished-runs", F_OK, 0), -1);
	for (unsigned i = 256; i < 270; i++) {
		make_run(i, FINAL);
		prune_runs(&home);
		assert_int_equal(count(), 256);
		assert_false(there(i - 256));
		assert_true(there(i - 255));
	}
}

/* A run that the ledger does not have yet stays, whatever its age. */
static void test_not_imported_stays(void **state)
{
	(void)state;

	for (unsigned i = 0; i < 258; i++)
		make_run(i, FINAL);
	assert_int_equal(unlinkat(home.runs_fd, "c-000000000000/" RUNDIR_IMPORTED_FILE, 0), 0);
	prune_runs(&home);
	assert_true(there(0) && !there(1) && there(2));
	write_file(0, RUNDIR_IMPORTED_FILE, "00000000-0000-0000-0000-000000000000");
	prune_runs(&home);
	assert_true(there(0));
	write_file(0, RUNDIR_IMPORTED_FILE, clock_boot_id());
	prune_runs(&home);
	assert_true(!there(0) && there(2));
	assert_int_equal(count(), 256);
}

/* A run that was seen running is looked at again; one with leftovers stays, whatever its age. */
static void test_others_stay(void **state)
{
	(void)state;

	make_run(0, RUNNING);
	make_run(1, FINAL);
	write_file(1, "cid", "x");
	for (unsigned i = 2; i < 262; i++)
		make_run(i, FINAL);
	prune_runs(&home);
	assert_true(there(0) && there(1) && !there(5) && there(6));
	assert_int_equal(count(), 258);
	write_file(0, RECORD_FILE, FINAL);
	prune_runs(&home);
	assert_true(!there(0) && there(1) && there(6));
	assert_int_equal(count(), 257);
}

static void remember(const char *text)
{
	auto_fd int fd =
		openat(home.fd, "finished-runs", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* A memory that lies, or is no memory, removes nothing that is not finished. */
static void test_bad_memory(void **state)
{
	(void)state;
	static const char *const memories[] = {"", "\n\n", "c-000000000000 1\n", "c-000000000000 1",
		"c-000000000000\n", "c-000000000000 -1\n", "../../../../../ 1\nc-ffffffffffff 1\n",
		"c-000000000000 99999999999999999999999\n"};
	unsigned next = 1 + 256;

	make_run(0, RUNNING);
	for (unsigned i = 1; i < next; i++)
		make_run(i, FINAL);
	for (size_t i = 0; i < ARRAY_SIZE(memories); i++, next++) {
		remember(memories[i]);
		make_run(next, FINAL);
		/* A lie about one run may cost one more start until the count is right. */
		prune_runs(&home);
		prune_runs(&home);
		assert_true(there(0) && there(next));
		assert_int_equal(count(), 257);
	}
}

/* What is known is not read again: a record that became unreadable does not matter. */
static void test_known_is_not_read(void **state)
{
	(void)state;

	for (unsigned i = 0; i < 257; i++)
		make_run(i, FINAL);
	prune_runs(&home);
	for (unsigned i = 2; i < 257; i++)
		write_file(i, RECORD_FILE, "not JSON");
	make_run(257, FINAL);
	prune_runs(&home);
	assert_true(!there(0) && !there(1) && there(2));
	assert_int_equal(count(), 256);
}

#define IN_HOME(f) cmocka_unit_test_setup_teardown(f, home_setup, home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_HOME(test_oldest_first),
		IN_HOME(test_not_imported_stays),
		IN_HOME(test_others_stay),
		IN_HOME(test_bad_memory),
		IN_HOME(test_known_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
