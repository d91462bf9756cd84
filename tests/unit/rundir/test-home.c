/* A new home (linked with --wrap=fsync, --wrap=linkat: when its id is on the disk). */
#include "unit/sys/unit-dir.h"

#include "executor/rundir/home.h"

static int synced = -1, synced_when_named = -1, folders_synced;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		synced = (int)st.st_size;
	else
		folders_synced++;
	return __real_fsync(fd);
}

int __real_linkat(int from, const char *name, int to, const char *as, int flags);
int __wrap_linkat(int from, const char *name, int to, const char *as, int flags);
int __wrap_linkat(int from, const char *name, int to, const char *as, int flags)
{
	synced_when_named = synced;
	return __real_linkat(from, name, to, as, flags);
}

static void test_id(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(home) first = HOME_INIT;
	AUTO(home) second = HOME_INIT;

	assert_done(home_open(path, &first, &err), &err);
	assert_int_equal(strlen(first.id), HOME_ID_SIZE - 1);
	assert_int_equal(synced_when_named, HOME_ID_SIZE - 1);
	assert_int_equal(folders_synced, 1);
	assert_done(home_open(path, &second, &err), &err);
	assert_string_equal(first.id, second.id);
	assert_int_equal(folders_synced, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {IN_DIR(test_id)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
