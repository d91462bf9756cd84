/* What a power cut leaves of files that were not synced: names without content. */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "executor/rundir/record-end.h"
#include "executor/rundir/stage-record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/clock.h"

#define ANOTHER_BOOT "00000000-0000-4000-8000-000000000000"

struct fixture {
	struct home home;
	struct rundir run;
	json_t *record;
};

static struct fixture fixture;

static int set_up(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = &fixture;

	*f = (struct fixture){HOME_INIT, RUNDIR_INIT, NULL};
	*state = f;
	if (dir_setup(state) < 0 || home_open(path, &f->home, &err) < 0)
		return -1;
	*state = f;
	return rundir_create(&f->home, &f->run, &err);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	json_decref(f->record);
	rundir_done(&f->run);
	home_done(&f->home);
	return dir_teardown(state);
}

static void put(const struct fixture *f, const char *name, const char *bytes)
{
	auto_fd int fd = openat(f->run.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
}

static bool there(const struct fixture *f, const char *name)
{
	return faccessat(f->run.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A run that was at work when the machine stopped. */
static void make_run(struct fixture *f, const char *state, const char *boot, const char *request)
{
	auto_error struct error err = ERROR_INIT;

	f->record = json_pack("{s:s, s:s, s:[], s:{s:s}}", "handle", f->run.handle, "state", state,
		"warnings", "supervision", "boot_id", boot);
	assert_done(rundir_write(&f->run, RECORD_FILE, f->record, false, &err), &err);
	put(f, REQUEST_FILE, request);
	put(f, "cid", "");
	put(f, "network.json", "");
	put(f, "stage.json", "");
	assert_int_equal(mkfifoat(f->run.fd, "stdout.fifo", 0600), 0);
	assert_int_equal(mkdirat(f->run.fd, "ctl", 0700), 0);
	assert_int_equal(mkfifoat(f->run.fd, "ctl/sock", 0600), 0);
	assert_true(rundir_has_leftovers(&f->run));
}

static json_t *on_disk(const struct fixture *f)
{
	auto_error struct error err = ERROR_INIT;
	json_t *record = rundir_read(&f->run, RECORD_FILE, &err);

	assert_non_null(record);
	return record;
}

static void test_request_taken(void **state)
{
	struct fixture *f = *state;

	make_run(f, "running", ANOTHER_BOOT, "");
	assert_true(record_end_undecided(&f->run, f->record, "left"));
	auto_json *record = on_disk(f);
	assert_string_equal(json_get_string(record, "state"), "failed");
	assert_string_equal(json_get_string(record, "outcome"), "lost");
	assert_non_null(json_get_string(record, "finished_at"));
	assert_int_equal(record_cli_exit(record), 125);
	const json_t *warning = json_array_get(json_object_get(record, "warnings"), 0);
	assert_string_equal(json_get_string(warning, "code"), "container_left");
	assert_false(rundir_has_leftovers(&f->run));
	assert_false(there(f, "stage.json"));
}

/* Its end was synced, what came after it was cut. */
static void test_ended_before(void **state)
{
	struct fixture *f = *state;

	make_run(f, "exited", ANOTHER_BOOT, "");
	auto_json *before = on_disk(f);
	assert_true(record_end_undecided(&f->run, f->record, "left"));
	auto_json *after = on_disk(f);
	assert_true(json_equal(before, after));
	assert_false(rundir_has_leftovers(&f->run));
}

/* Its sandbox may live: who looks is told what removes it. */
static void test_this_boot(void **state)
{
	struct fixture *f = *state;

	make_run(f, "running", clock_boot_id(), "{");
	assert_true(record_end_undecided(&f->run, f->record, "left"));
	auto_json *record = on_disk(f);
	assert_string_equal(json_get_string(record, "outcome"), "lost");
	assert_non_null(strstr(json_get_string(record, "error"), "request.json"));
	assert_non_null(strstr(json_get_string(record, "remediation"), "cloop executor reap"));
	assert_false(there(f, "stage.json"));
}

/* Whoever can read it knows more. */
static void test_request_there(void **state)
{
	struct fixture *f = *state;

	make_run(f, "running", ANOTHER_BOOT, "{}");
	assert_false(record_end_undecided(&f->run, f->record, "left"));
	auto_json *record = on_disk(f);
	assert_string_equal(json_get_string(record, "state"), "running");
	assert_true(rundir_has_leftovers(&f->run) && there(f, "stage.json"));
}

static void test_damaged(void **state)
{
	static const char *const contents[] = {"", "{", "5", "[]", "{}x"};
	struct fixture *f = *state;

	assert_true(rundir_damaged(&f->run, REQUEST_FILE));
	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		put(f, REQUEST_FILE, contents[i]);
		assert_true(rundir_damaged(&f->run, REQUEST_FILE));
	}
	put(f, REQUEST_FILE, "{}");
	assert_false(rundir_damaged(&f->run, REQUEST_FILE));
}

/* Only a run of which nothing was decided was never begun. */
static void test_not_stillborn(void **state)
{
	struct fixture *f = *state;
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	put(f, REQUEST_FILE, "{}");
	assert_int_equal(futimens(f->run.fd, long_ago), 0);
	assert_false(rundir_stillborn(&f->run));
}

static void test_record_taken(void **state)
{
	struct fixture *f = *state;
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	put(f, RECORD_FILE, "");
	assert_false(rundir_stillborn(&f->run));
	assert_int_equal(futimens(f->run.fd, long_ago), 0);
	assert_true(rundir_stillborn(&f->run));
	put(f, RECORD_FILE, "{");
	assert_int_equal(futimens(f->run.fd, long_ago), 0);
	assert_false(rundir_stillborn(&f->run));
}

/* The name of the directory was synced before it was made, so it is gone with its tmpfs. */
static void test_stage_taken(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;

	put(f, "stage.json", "");
	assert_done(stage_wipe_run(&f->run, &err), &err);
	assert_false(stage_record_exists(&f->home, f->run.handle));
	put(f, "stage.json", "{");
	assert_int_equal(stage_wipe_run(&f->run, &err), -1);
	assert_true(stage_record_exists(&f->home, f->run.handle));
}

#define WITH_RUN(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {WITH_RUN(test_request_taken),
		WITH_RUN(test_ended_before), WITH_RUN(test_this_boot), WITH_RUN(test_request_there),
		WITH_RUN(test_damaged), WITH_RUN(test_not_stillborn), WITH_RUN(test_record_taken),
		WITH_RUN(test_stage_taken)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
