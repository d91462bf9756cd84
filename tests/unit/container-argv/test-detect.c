/*
 * Finding an engine on a real PATH with programs of the test (container-driver.md §4.1, §4.2). They
 * lie beside the test program: /tmp is writable by others, so nothing in it is ever safe.
 */
#include "unit/unit.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "executor/container/detect.h"
#include "sys/file.h"

static char *home; /* the directory of the test's engines */

static void write_engine(const char *name, const char *script, mode_t mode)
{
	auto_free char *path = mem_printf("%s/%s", home, name);
	auto_file FILE *f = fopen(path, "we");

	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void remove_engine(const char *name)
{
	auto_free char *path = mem_printf("%s/%s", home, name);

	unlink(path);
	rmdir(path);
}

static enum error_code code_of(const char *configured)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(runtime) r = RUNTIME_INIT;

	return runtime_detect(configured, NULL, &r, &err) == 0 ? ERROR_NONE : err.code;
}

static int make_home(void **state)
{
	auto_free char *exe = file_resolve("/proc/self/exe");

	(void)state;
	*strrchr(exe, '/') = '\0';
	home = mem_printf("%s/engines-XXXXXX", exe);
	assert_non_null(mkdtemp(home));
	assert_int_equal(chmod(home, 0755), 0);
	return setenv("PATH", home, 1);
}

static int remove_home(void **state)
{
	(void)state;
	remove_engine("podman");
	remove_engine("docker");
	int r = rmdir(home);
	free(home);
	return r;
}

static void an_engine_on_path(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(runtime) r = RUNTIME_INIT;

	(void)state;
	write_engine("podman", "echo podman version 4.3.1", 0755);
	if (code_of("") == ERROR_RUNTIME_UNSAFE)
		skip(); /* the tree lies below a directory that others can write */
	assert_done(runtime_detect("", NULL, &r, &err), &err);
	assert_int_equal(r.engine, ENGINE_PODMAN);
	assert_true(strncmp(r.path, home, strlen(home)) == 0);
	assert_int_equal(r.rootless, geteuid() != 0);
	assert_done(runtime_resolve_endpoint(&r, &err), &err);
	assert_null(r.endpoint);
}

static void what_is_no_safe_engine(void **state)
{
	(void)state;
	remove_engine("podman");
	assert_int_equal(code_of(""), ERROR_RUNTIME_MISSING);
	assert_int_equal(code_of("podman"), ERROR_RUNTIME_MISSING);
	assert_int_equal(code_of("nerdctl"), ERROR_RUNTIME_UNSUPPORTED);
	write_engine("podman", "echo podman version 4.3.1", 0644);
	assert_int_equal(code_of("podman"), ERROR_RUNTIME_MISSING);
	write_engine("podman", "touch ran", 0777);
	assert_int_equal(code_of("podman"), ERROR_RUNTIME_UNSAFE);
	remove_engine("podman");
	assert_int_equal(chmod(home, 0777), 0);
	write_engine("podman", "echo podman version 4.3.1", 0755);
	assert_int_equal(code_of("podman"), ERROR_RUNTIME_UNSAFE);
	assert_int_equal(chmod(home, 0755), 0);
}

/* Whoever can replace the link chooses the program. */
static void a_link_in_an_open_directory(void **state)
{
	auto_free char *open = mem_printf("%s/open", home), *link = mem_printf("%s/podman", open);
	auto_free char *second = mem_printf("%s/docker", home);

	(void)state;
	remove_engine("podman");
	remove_engine("docker");
	write_engine("podman", "echo podman version 4.3.1", 0755);
	assert_int_equal(mkdir(open, 0755), 0);
	assert_int_equal(symlink("../podman", link), 0);
	bool safe = code_of(link) == ERROR_NONE;
	assert_int_equal(chmod(open, 0777), 0);
	assert_int_equal(code_of(link), ERROR_RUNTIME_UNSAFE);
	/* The same of a link to a directory. */
	auto_free char *between = mem_printf("%s/between", open);
	auto_free char *through = mem_printf("%s/podman", between);
	assert_int_equal(symlink("../open/../", between), 0);
	assert_int_equal(code_of(through), ERROR_RUNTIME_UNSAFE);
	assert_int_equal(chmod(open, 0755), 0);
	assert_true(!safe || code_of(through) == ERROR_NONE);
	assert_int_equal(chmod(open, 0777), 0);
	assert_int_equal(unlink(between), 0);
	/* The same behind another link. */
	assert_int_equal(unlink(link), 0);
	write_engine("podman", "echo Docker version 1", 0755);
	auto_free char *inner = mem_printf("%s/inner", open);
	assert_int_equal(symlink("../podman", inner), 0);
	assert_int_equal(symlink("open/inner", second), 0);
	assert_int_equal(code_of("docker"), ERROR_RUNTIME_UNSAFE);
	assert_int_equal(chmod(open, 0755), 0);
	assert_true(!safe || code_of("docker") == ERROR_NONE);
	assert_int_equal(unlink(inner), 0);
	assert_int_equal(rmdir(open), 0);
	remove_engine("docker");
}

static void what_answers_otherwise(void **state)
{
	(void)state;
	remove_engine("podman");
	write_engine("docker", "echo podman version 4.3.1", 0755);
	if (code_of("docker") == ERROR_RUNTIME_UNSAFE)
		skip();
	assert_int_equal(code_of("docker"), ERROR_RUNTIME_MASQUERADE);
	assert_int_equal(code_of(""), ERROR_RUNTIME_MASQUERADE);
	write_engine("docker", "echo something else", 0755);
	assert_int_equal(code_of("docker"), ERROR_RUNTIME_UNSUPPORTED);
	write_engine("docker", "echo Docker version 1; exit 3", 0755);
	assert_int_equal(code_of("docker"), ERROR_RUNTIME_UNSUPPORTED);
}

static const char docker_with_a_context[] = "case \"$1\" in\n"
					    "--version) echo Docker version 20.10.24;;\n"
					    "context) echo unix:///run/user/1000/docker.sock;;\n"
					    "esac";

static void dockers_endpoint(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(runtime) r = RUNTIME_INIT, remote = RUNTIME_INIT;

	(void)state;
	write_engine("docker", docker_with_a_context, 0755);
	unsetenv("DOCKER_HOST");
	if (code_of("docker") == ERROR_RUNTIME_UNSAFE)
		skip();
	assert_done(runtime_detect("docker", NULL, &r, &err), &err);
	assert_false(r.rootless);
	setenv("DOCKER_CONTEXT", "mine", 1);
	assert_done(runtime_resolve_endpoint(&r, &err), &err);
	assert_string_equal(r.endpoint, "unix:///run/user/1000/docker.sock");
	unsetenv("DOCKER_CONTEXT");
	/* Nothing is configured: the system's socket, without a question. */
	setenv("DOCKER_CONFIG", "/nonexistent", 1);
	mem_set_string(&r.endpoint, NULL);
	assert_done(runtime_resolve_endpoint(&r, &err), &err);
	assert_string_equal(r.endpoint, "unix:///var/run/docker.sock");
	unsetenv("DOCKER_CONFIG");
	setenv("DOCKER_HOST", "tcp://10.0.0.1:2375", 1);
	assert_done(runtime_detect("docker", NULL, &remote, &err), &err);
	assert_int_equal(runtime_resolve_endpoint(&remote, &err), -1);
	assert_int_equal(err.code, ERROR_RUNTIME_REMOTE);
	unsetenv("DOCKER_HOST");
}

static void dockers_security_options(void **state)
{
	static const struct {
		struct text json;
		enum error_code code;
	} answers[] = {
		{TEXT("{\"SecurityOptions\":[\"name=seccomp,profile=default\",\"name=cgroupns\"]}"),
			ERROR_NONE},
		{TEXT("{}"), ERROR_NONE},
		{TEXT("{\"SecurityOptions\":[\"name=seccomp\",\"name=rootless\"]}"),
			ERROR_DOCKER_USERNS},
		{TEXT("{\"SecurityOptions\":[\"name=userns\"]}"), ERROR_DOCKER_USERNS},
		{TEXT("Cannot connect"), ERROR_ENGINE_FAILED},
		/* docker 20.10 without a daemon; it ends with 0. */
		{TEXT("{\"ServerErrors\":[\"Cannot connect to the Docker daemon at unix:///x. Is "
		      "the docker daemon running?\"],\"ClientInfo\":{\"Debug\":false}}"),
			ERROR_ENGINE_UNREACHABLE},
		{TEXT("{\"ServerErrors\":[]}"), ERROR_NONE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		auto_error struct error err = ERROR_INIT;
		int r = detect_check_docker_info(answers[i].json, &err);
		assert_int_equal(r, answers[i].code ? -1 : 0);
		assert_int_equal(err.code, answers[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_on_path),
		cmocka_unit_test(what_is_no_safe_engine),
		cmocka_unit_test(a_link_in_an_open_directory),
		cmocka_unit_test(what_answers_otherwise),
		cmocka_unit_test(dockers_endpoint),
		cmocka_unit_test(dockers_security_options),
	};

	return cmocka_run_group_tests(tests, make_home, remove_home);
}
