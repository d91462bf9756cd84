/* Inits of other versions (container-driver.md §23.1). */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/driver/guest-file.h"
#include "executor/rundir/record.h"
#include "executor/rundir/rundir.h"
#include "sys/lockfile.h"

#define OLD "0123456789abcdef"
#define OLDER "fedcba9876543210"
#define FINAL "{\"state\": \"exited\", \"outcome\": \"ok\", \"warnings\": []}"
#define RUNNING "{\"state\": \"running\", \"warnings\": []}"
#define LEFT "{\"state\": \"exited\", \"warnings\": [{\"code\": \"container_left\"}]}"
#define HANDLE "c-000000000001"

static struct home home = HOME_INIT;

static void make(const char *folder, const char *name, const char *text)
{
	auto_free char *parent = mem_printf("%s/%s", path, folder);
	auto_free char *file = mem_printf("%s/%s", parent, name);

	mkdir(parent, 0700);
	auto_fd int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static bool there(const char *name)
{
	auto_free char *file = mem_printf("%s/%s", path, name);

	return access(file, F_OK) == 0;
}

static int home_setup(void **state)
{
	auto_error struct error err = ERROR_INIT;

	if (dir_setup(state) < 0 || home_open(path, &home, &err) < 0)
		return -1;
	make("guest", "notes", "");
	make("guest/" OLD, "cloop-guest", "old");
	make("guest/" OLDER, "cloop-guest", "older");
	make("guest/another", "cloop-guest", "no version");
	return 0;
}

static int home_teardown(void **state)
{
	home_done(&home);
	return dir_teardown(state);
}

static void make_run(const char *record, const char *version)
{
	auto_free char *request =
		mem_printf("{\"guest\": \"%s/guest/%s/cloop-guest\"}", home.path, version);

	make("runs/" HANDLE, RECORD_FILE, record);
	make("runs/" HANDLE, REQUEST_FILE, request);
	make("runs/" HANDLE, "lock", "");
}

static void check(bool old, bool older)
{
	guest_file_reap(&home);
	assert_int_equal(there("guest/" OLD), old);
	assert_int_equal(there("guest/" OLDER), older);
	assert_true(there("guest/another/cloop-guest") && there("guest/notes"));
}

static void no_run_uses_them(void **state)
{
	(void)state;
	check(false, false);
}

static void finished_runs_use_none(void **state)
{
	(void)state;
	make_run(FINAL, OLD);
	check(false, false);
}

static void this_version_stays(void **state)
{
	(void)state;
	auto_free char *own = guest_file_path(home.path);
	char *slash = strrchr(own, '/');
	*slash = '\0';
	make(own + strlen(home.path) + 1, "cloop-guest", "this");
	guest_file_reap(&home);
	assert_true(access(own, F_OK) == 0);
}

static void a_running_one_keeps_its_own(void **state)
{
	(void)state;
	make_run(RUNNING, OLD);
	check(true, false);
}

static void so_does_a_container_that_was_left(void **state)
{
	(void)state;
	make_run(LEFT, OLDER);
	check(false, true);
}

static void so_do_leftovers(void **state)
{
	(void)state;
	make_run(FINAL, OLD);
	make("runs/" HANDLE, "cid", "");
	check(true, false);
}

static void so_does_a_supervisor(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(rundir) run = RUNDIR_INIT;
	auto_fd int lock = -1;

	(void)state;
	make_run(FINAL, OLD);
	assert_int_equal(rundir_open(&home, HANDLE, &run, &err), 0);
	assert_int_equal(lockfile_try(run.fd, "lock", &lock, &err), 0);
	check(true, false);
}

static void an_undecided_one_keeps_all(void **state)
{
	(void)state;
	make("runs/" HANDLE, RECORD_FILE, RUNNING);
	check(true, true);
	make("runs/" HANDLE, REQUEST_FILE, "no JSON");
	check(true, true);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, home_setup, home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(no_run_uses_them), TEST(finished_runs_use_none),
		TEST(this_version_stays), TEST(a_running_one_keeps_its_own),
		TEST(so_does_a_container_that_was_left), TEST(so_do_leftovers),
		TEST(so_does_a_supervisor), TEST(an_undecided_one_keeps_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
