/* Wiping: only what is on record, never through a link, and as much of it as can be. */
#include "unit/sys/unit-dir.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "executor/rundir/record.h"
#include "executor/rundir/stage-record.h"
#include "executor/rundir/stage-wipe.h"

struct fixture {
	struct home home;
	struct rundir run;
	char *stage; /* chosen, not made */
};

static struct fixture fixture;

static int set_up(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = &fixture;

	*f = (struct fixture){HOME_INIT, RUNDIR_INIT, NULL};
	if (dir_setup(state) < 0 || home_open(path, &f->home, &err) < 0 ||
		rundir_create(&f->home, &f->run, &err) < 0)
		return -1;
	f->stage = stage_record_choose(&err);
	*state = f;
	return f->stage ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	rundir_done(&f->run);
	home_done(&f->home);
	free(f->stage);
	return dir_teardown(state);
}

static void put(int at, const char *name, const char *bytes, mode_t mode)
{
	auto_fd int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0 && write(fd, bytes, strlen(bytes)) == (ssize_t)strlen(bytes));
	assert_int_equal(fchmod(fd, mode), 0);
}

/* The directory, on record with its identity. */
static int make_stage(const struct fixture *f)
{
	auto_error struct error err = ERROR_INIT;
	struct stat st;

	assert_done(stage_record_write(&f->run, f->stage, NULL, &err), &err);
	assert_int_equal(mkdir(f->stage, 0700), 0);
	assert_int_equal(lstat(f->stage, &st), 0);
	assert_done(stage_record_write(&f->run, f->stage, &st, &err), &err);
	return open(f->stage, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool gone(const struct fixture *f)
{
	struct stat st;

	return lstat(f->stage, &st) < 0 && !stage_record_exists(&f->home, f->run.handle);
}

static void test_all_is_wiped(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;
	auto_fd int staged = make_stage(f);
	char bytes[16] = "";

	put(staged, "read-only", "a secret value", 0400);
	put(staged, "executable", "another", 0500);
	auto_fd int kept = openat(staged, "read-only", O_RDONLY | O_CLOEXEC);
	assert_int_equal(symlinkat("/etc/passwd", staged, "link"), 0);
	assert_true(stage_record_exists(&f->home, f->run.handle));
	assert_done(stage_wipe_run(&f->run, &err), &err);
	assert_true(gone(f));
	/* What an open descriptor keeps is zeros. */
	assert_int_equal(pread(kept, bytes, sizeof(bytes), 0), 14);
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], 0);
	assert_int_equal(access("/etc/passwd", R_OK), 0);
	assert_done(stage_wipe_run(&f->run, &err), &err);
}

static void test_a_link_is_not_followed(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;
	auto_free char *outside = mem_printf("%s/outside", path);
	auto_fd int staged = make_stage(f);
	auto_fd int place = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO(str) text = STR_INIT(64);

	put(place, "outside", "stays", 0600);
	assert_int_equal(symlinkat(outside, staged, "link"), 0);
	assert_done(stage_wipe_file(staged, "link", &err), &err);
	assert_done(stage_wipe_file(staged, "link", &err), &err);
	assert_done(file_read(outside, 60, &text, &err), &err);
	assert_string_equal(str_text(&text), "stays");
	assert_done(stage_wipe_run(&f->run, &err), &err);
}

/* What is no file is reported and left; the files beside it are wiped all the same. */
static void test_others_are_left(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_error struct error second = ERROR_INIT;
	struct fixture *f = *state;
	auto_fd int staged = make_stage(f);
	struct stat st;

	put(staged, "a", "secret", 0600);
	put(staged, "z", "secret", 0600);
	assert_int_equal(mkdirat(staged, "folder", 0700), 0);
	assert_int_equal(mkfifoat(staged, "pipe", 0600), 0);
	assert_int_equal(stage_wipe_run(&f->run, &err), -1);
	assert_int_equal(err.code, ERROR_SECRET_STAGE_FAILED);
	assert_int_equal(fstatat(staged, "a", &st, 0), -1);
	assert_int_equal(fstatat(staged, "z", &st, 0), -1);
	assert_int_equal(fstatat(staged, "pipe", &st, 0), 0);
	assert_true(stage_record_exists(&f->home, f->run.handle));
	unlinkat(staged, "pipe", 0);
	unlinkat(staged, "folder", AT_REMOVEDIR);
	assert_done(stage_wipe_run(&f->run, &second), &second);
	assert_true(gone(f));
}

/* Recorded, not made yet; made, identity not on record; another directory of that name. */
static void test_every_step_of_making(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;
	struct stat other = {.st_dev = 1, .st_ino = 1};

	assert_done(stage_record_write(&f->run, f->stage, NULL, &err), &err);
	assert_done(stage_wipe_run(&f->run, &err), &err);
	assert_true(gone(f));
	assert_done(stage_record_write(&f->run, f->stage, NULL, &err), &err);
	assert_int_equal(mkdir(f->stage, 0700), 0);
	assert_done(stage_wipe_run(&f->run, &err), &err);
	assert_true(gone(f));
	assert_done(stage_record_write(&f->run, f->stage, &other, &err), &err);
	assert_int_equal(mkdir(f->stage, 0700), 0);
	assert_done(stage_wipe_run(&f->run, &err), &err);
	assert_int_equal(rmdir(f->stage), 0);
}

static void test_paths(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;
	const char *name = NULL;
	static const char *const bad[] = {"cloop-lease-0123456789abcdef01234567",
		"/dev/shm/cloop-lease-0123456789abcdef0123456", "/dev/shm/cloop-lease-",
		"/dev/shm/cloop-lease-0123456789ABCDEF01234567",
		"/dev/shm/x/cloop-lease-0123456789abcdef01234567",
		"/dev/shm/../cloop-lease-0123456789abcdef01234567",
		"/tmp/cloop-lease-0123456789abcdef01234567",
		"/dev/shm/cloop-lease-0123456789abcdef01234567/..",
		"/dev/shm/cloop-lease-0123456789abcdef0123456/", "/dev/shm/other", "/", ""};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		auto_error struct error one = ERROR_INIT;
		if (stage_record_open_root(bad[i], &name) >= 0)
			fail_msg("taken: %s", bad[i]);
		assert_done(stage_record_write(&f->run, bad[i], NULL, &one), &one);
		assert_int_equal(stage_wipe_run(&f->run, &one), -1);
	}
	auto_fd int root = stage_record_open_root(f->stage, &name);
	assert_true(root >= 0 && strncmp(name, "cloop-lease-", 12) == 0);
	auto_free char *second = stage_record_choose(&err);
	assert_string_not_equal(second, f->stage);
}

static void write_record(const struct fixture *f, const char *state_word, const char *boot)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record =
		json_pack("{s:s, s:{s:s}}", "state", state_word, "supervision", "boot_id", boot);

	assert_done(rundir_write(&f->run, RECORD_FILE, record, false, &err), &err);
}

/* A live run of this boot keeps its stage; a final one, or one of another boot, does not. */
static void test_sweep(void **state)
{
	struct fixture *f = *state;
	auto_fd int first = make_stage(f);

	assert_true(first >= 0);
	write_record(f, "running", "another-boot");
	stage_sweep(&f->home);
	assert_true(gone(f));
	auto_fd int second = make_stage(f);
	assert_true(second >= 0);
	write_record(f, "exited", "another-boot");
	stage_sweep(&f->home);
	assert_true(gone(f));
	auto_fd int third = make_stage(f);
	assert_true(third >= 0);
	auto_json *record = json_pack("{s:s}", "state", "running");
	auto_error struct error err = ERROR_INIT;
	assert_done(rundir_write(&f->run, RECORD_FILE, record, false, &err), &err);
	stage_sweep(&f->home);
	assert_false(gone(f));
	assert_done(stage_wipe_run(&f->run, &err), &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_is_wiped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_link_is_not_followed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_others_are_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_every_step_of_making, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sweep, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
