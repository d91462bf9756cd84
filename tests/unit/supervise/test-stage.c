/* Making the stage of a run: modes, every failure, and what becomes of it (supervise/stage.h). */
#include "unit/sys/unit-dir.h"

#include "base/mem.h"
#include "executor/container/supervise/stage.h"
#include "executor/rundir/stage-record.h"
#include "executor/rundir/stage-wipe.h"
#include "sys/fault.h"

struct fixture {
	struct home home;
	struct rundir run;
	char *where;
	struct stage stage;
};

static struct fixture fixture;

static int set_up(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = &fixture;

	*f = (struct fixture){HOME_INIT, RUNDIR_INIT, NULL, STAGE_INIT};
	if (dir_setup(state) < 0 || home_open(path, &f->home, &err) < 0 ||
		rundir_create(&f->home, &f->run, &err) < 0)
		return -1;
	f->where = stage_record_choose(&err);
	*state = f;
	return f->where ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	fault_arm(NULL);
	stage_done(&f->stage);
	rundir_done(&f->run);
	home_done(&f->home);
	free(f->where);
	return dir_teardown(state);
}

#define BOTH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

static const struct stage_file files[] = {
	{"key", 0400, {"a\0b", 3}}, {"tool", 0700, {"#!", 2}}, {"empty", 0600, {"", 0}}};

static bool is_file(const struct fixture *f, const char *name, mode_t mode, off_t size)
{
	struct stat st;

	return fstatat(f->stage.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 07777) == mode && st.st_size == size && st.st_nlink == 1;
}

static void make(struct fixture *f)
{
	auto_error struct error err = ERROR_INIT;

	assert_done(stage_make(&f->stage, &f->run, f->where, files, 3, &err), &err);
}

static void wipe(struct fixture *f)
{
	auto_error struct error err = ERROR_INIT;
	struct stat st;

	assert_done(stage_wipe_run(&f->run, &err), &err);
	assert_int_equal(lstat(f->where, &st), -1);
}

static void test_made(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;
	struct stage again = STAGE_INIT;
	struct secret got = {.p = NULL};
	struct stat st;

	make(f);
	assert_int_equal(lstat(f->where, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_true(is_file(f, "key", 0400, 3) && is_file(f, "tool", 0700, 2) &&
		    is_file(f, "empty", 0600, 0));
	assert_done(stage_open(&again, &f->run, &err), &err);
	assert_done(stage_read(&again, "key", &got, &err), &err);
	assert_true(text_equal(secret_text(&got), files[0].content));
	secret_done(&got);
	assert_int_equal(stage_read(&again, "nothing", &got, &err), 1);
	stage_done(&again);
	wipe(f);
	assert_int_equal(stage_open(&again, &f->run, &err), 1);
}

/* Whatever fails: it is refused, and what was made is on record and goes. */
static void test_failures(void **state)
{
	static const struct {
		const char *fault;
		bool made; /* the directory */
	} cases[] = {{"stage:recorded", false}, {"stage:file", true}, {"stage:file:3", true},
		{"file-write", false}, {"file-write:3", true}, {"stage:written", true},
		{"file-replace", false}, {"file-replace:2", true}};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		auto_error struct error err = ERROR_INIT;
		fault_arm(cases[i].fault);
		assert_int_equal(stage_make(&f->stage, &f->run, f->where, files, 3, &err), -1);
		fault_arm(NULL);
		assert_int_equal(access(f->where, F_OK) == 0, cases[i].made);
		stage_done(&f->stage);
		wipe(f);
	}
}

static void test_bad_places(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(stage_make(&f->stage, &f->run, "/tmp/cloop-lease-0123456789abcdef01234567",
				 files, 1, &err),
		-1);
	assert_int_equal(err.code, ERROR_SECRET_STAGE_UNAVAILABLE);
	/* Somebody has that name already: it is not used, and stays. */
	assert_int_equal(mkdir(f->where, 0700), 0);
	assert_int_equal(stage_make(&f->stage, &f->run, f->where, files, 1, &err), -1);
	assert_int_equal(lstat(f->where, &st), 0);
	assert_int_equal(f->stage.fd, -1);
	assert_false(stage_record_exists(&f->home, f->run.handle));
	assert_int_equal(rmdir(f->where), 0);
}

static void test_replaced(void **state)
{
	auto_error struct error err = ERROR_INIT;
	struct fixture *f = *state;
	struct stage_file file = {"key", 0400, TEXT("another content")};
	struct secret got = {.p = NULL};

	make(f);
	assert_done(stage_replace(&f->stage, &file, &err), &err);
	assert_true(is_file(f, "key", 0400, 15));
	assert_done(stage_read(&f->stage, "key", &got, &err), &err);
	assert_true(text_equal(secret_text(&got), file.content));
	secret_done(&got);
	/* One that failed leaves the old one, and nothing else; so does one that died. */
	fault_arm("stage:file");
	file.content = TEXT("never");
	assert_int_equal(stage_replace(&f->stage, &file, &err), -1);
	fault_arm(NULL);
	assert_true(is_file(f, "key", 0400, 15));
	assert_int_equal(faccessat(f->stage.fd, "\\new", F_OK, 0), -1);
	auto_fd int left = openat(f->stage.fd, "\\new", O_WRONLY | O_CREAT, 0400);
	assert_true(left >= 0);
	error_clear(&err);
	assert_done(stage_replace(&f->stage, &file, &err), &err);
	assert_true(is_file(f, "key", 0400, 5));
	wipe(f);
}

/* What the owner on the host may have put in a file's place is not read. */
static void test_strange_files(void **state)
{
	struct fixture *f = *state;
	struct secret got = {.p = NULL};
	static const char *const names[] = {"link", "pipe", "folder", "large"};

	make(f);
	assert_int_equal(symlinkat("/etc/passwd", f->stage.fd, "link"), 0);
	assert_int_equal(mkfifoat(f->stage.fd, "pipe", 0600), 0);
	assert_int_equal(mkdirat(f->stage.fd, "folder", 0700), 0);
	auto_fd int large = openat(f->stage.fd, "large", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(ftruncate(large, 262145), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		auto_error struct error err = ERROR_INIT;
		assert_int_equal(stage_read(&f->stage, names[i], &got, &err), -1);
		assert_int_equal(err.code, ERROR_SECRET_STAGE_FAILED);
	}
	unlinkat(f->stage.fd, "pipe", 0);
	unlinkat(f->stage.fd, "folder", AT_REMOVEDIR);
	wipe(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_made),
		BOTH(test_failures),
		BOTH(test_bad_places),
		BOTH(test_replaced),
		BOTH(test_strange_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
