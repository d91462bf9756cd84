/* What the load cases do not say: files named by themselves, and types of what cannot be opened. */
#include "unit/spec/spec-unit.h"

#include <sys/stat.h>

#include "spec/spec-load.h"
#include "sys/file.h"

static char dir[] = "/tmp/cloop-spec-load-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	return file_remove_tree_at(tmp, dir + strlen("/tmp/"), &err);
}

static void in_dir(const char *name, char ret[128])
{
	snprintf(ret, 128, "%s/%s", dir, name);
}

static void write_file(const char *name, const char *text)
{
	char path[128];

	in_dir(name, path);
	auto_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void load_file(const char *name, struct spec_result *ret)
{
	auto_error struct error err = ERROR_INIT;
	char path[128];

	in_dir(name, path);
	assert_done(spec_load_file(path, &unit_checks, ret, &err), &err);
}

static void file_by_its_name(void **state)
{
	AUTO(spec_result) file = {0};

	(void)state;
	write_file("any.name", "image: alpine\n");
	load_file("any.name", &file);
	assert_true(file.ok && file.present);
}

static void link_fifo_and_directory_by_their_name(void **state)
{
	static const char *const codes[] = {"symlink", "not_regular", "not_regular"};
	static const char *const names[] = {"link", "fifo", "sub"};
	char path[128];

	(void)state;
	in_dir("link", path);
	assert_int_equal(symlink("any.name", path), 0);
	in_dir("fifo", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	in_dir("sub", path);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO(spec_result) file = {0};
		load_file(names[i], &file);
		assert_false(file.ok);
		assert_string_equal(file.errors.v[0].code, codes[i]);
		assert_int_equal(file.errors.v[0].at.line, 0);
	}
}

static void missing_ones_are_told(void **state)
{
	AUTO(spec_result) file = {0};
	auto_error struct error err = ERROR_INIT;
	char path[128];

	(void)state;
	in_dir("missing", path);
	assert_int_equal(spec_load_file(path, &unit_checks, &file, &err), 1);
	assert_int_equal(spec_load_dir(path, &unit_checks, &file, &err), -1);
	assert_int_equal(err.code, ERROR_NOT_A_PROJECT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_by_its_name),
		cmocka_unit_test(link_fifo_and_directory_by_their_name),
		cmocka_unit_test(missing_ones_are_told),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
