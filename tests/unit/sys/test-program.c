#include "unit/unit.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sys/program.h"
#include "unit/sys/unit-dir.h"

#define REPLACED "--replaced"

static void put(const char *name, const char *bytes, size_t n)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	assert_true(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
}

/* A copy of this program, installed as one of libexec; with `cloop` where a package has it. */
static void install(void)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) self = STR_INIT(256 << 20);

	assert_done(file_read("/proc/self/exe", (256 << 20) - 1, &self, &err), &err);
	assert_true(mkdirat(dir, "bin", 0755) == 0 && mkdirat(dir, "libexec", 0755) == 0 &&
		    mkdirat(dir, "libexec/cloop", 0755) == 0);
	put("libexec/cloop/cloop-shim", str_text(&self), self.len);
	put("bin/cloop", "new", 3);
}

/* In the copy: what a supervisor meets that lives through an upgrade. */
static int find_after_upgrade(const char *self)
{
	const char *slash = strrchr(self, '/');
	auto_free char *there = mem_printf("%.*s/../../bin/cloop", (int)(slash - self), self);
	struct stat a, b;

	if (unlink(self) < 0)
		return 2;
	auto_free char *found = program_path("cloop");
	return stat(found, &a) == 0 && stat(there, &b) == 0 && file_same(&a, &b) ? 0 : 1;
}

static void test_upgraded(void **state)
{
	(void)state;
	auto_free char *copy = mem_printf("%s/libexec/cloop/cloop-shim", path);
	int status = -1;

	install();
	pid_t child = fork();
	if (child == 0) {
		execl(copy, copy, REPLACED, (char *)NULL);
		_exit(3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], REPLACED) == 0)
		return find_after_upgrade(argv[0]);
	const struct CMUnitTest tests[] = {
		IN_DIR(test_upgraded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
