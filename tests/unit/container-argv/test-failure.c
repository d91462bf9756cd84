#include "unit/unit.h"

#include "executor/container/failure.h"

static void quote(const char *err, const char *out, struct str *ret)
{
	AUTO(str) e = STR_INIT(4096);
	AUTO(str) o = STR_INIT(4096);

	str_add_text(&e, err);
	str_add_text(&o, out);
	str_reset(ret);
	failure_quote(ret, &e, &o);
}

static void the_first_line_that_says_something(void **state)
{
	AUTO(str) q = STR_INIT(4096);
	char long_line[1001];

	(void)state;
	quote("\n \t\r\nError: boom\nmore\n", "out", &q);
	assert_string_equal(str_text(&q), "Error: boom");
	quote(" \n", "only on stdout\n", &q);
	assert_string_equal(str_text(&q), "only on stdout");
	quote("", "", &q);
	assert_string_equal(str_text(&q), "");
	quote("a\033[31mb\x07", "", &q);
	assert_string_equal(str_text(&q), "a\\x1b[31mb\\x07");
	quote("Resource limits are not supported and ignored on cgroups V1 rootless "
	      "systems\nError: x",
		"", &q);
	assert_string_equal(str_text(&q), "Error: x");
	memset(long_line, 'x', 1000);
	long_line[1000] = '\0';
	quote(long_line, "", &q);
	assert_int_equal(q.len, FAILURE_QUOTE_BYTES_MAX);
}

static void explain(const char *words, enum engine engine, struct error *err)
{
	AUTO(str) e = STR_INIT(4096);
	AUTO(str) o = STR_INIT(4096);

	str_add_text(&e, words);
	const struct failure f = {engine, TEXT("run"), TEXT("example.com/x:1"), &e, &o};
	assert_int_equal(failure_explain(&f, err), -1);
}

static void remedies_that_know_the_run(void **state)
{
	auto_error struct error err = ERROR_INIT;

	(void)state;
	explain("Error: example.com/x:1: image not known", ENGINE_PODMAN, &err);
	assert_string_equal(error_remedy(&err), "podman pull example.com/x:1");
	assert_string_equal(
		err.message, "podman run failed: Error: example.com/x:1: image not known");
	explain("Cannot connect to the Docker daemon", ENGINE_DOCKER, &err);
	assert_non_null(strstr(error_remedy(&err), "systemctl start docker"));
	explain("Cannot connect to Podman", ENGINE_PODMAN, &err);
	assert_non_null(strstr(error_remedy(&err), "podman info"));
	explain("crun: error: drop all controllers", ENGINE_PODMAN, &err);
	assert_non_null(strstr(error_remedy(&err), "runc"));
	explain("Resource limits are not supported and ignored on cgroups V1 rootless systems\n"
		"Error: OCI runtime error: runc: error mounting: readlink x: invalid argument\n",
		ENGINE_PODMAN, &err);
	assert_int_equal(err.code, ERROR_ENGINE_FAILED);
	explain("time=\"2026-01-02T03:04:05Z\" level=warning msg=\"/ is not a shared mount\"\n"
		"Error: getting store info: open /x: permission denied\n",
		ENGINE_PODMAN, &err);
	assert_string_equal(err.message,
		"podman run failed: Error: getting store info: open /x: permission denied");
	explain("time=\"2026-01-02T03:04:05Z\" level=warning msg=\"alone\"\n", ENGINE_PODMAN, &err);
	assert_non_null(strstr(err.message, "alone"));
	explain("", ENGINE_DOCKER, &err);
	assert_string_equal(err.message, "docker run failed: it said nothing");
}

/* Rows that share words: the first one of the table counts; a name is one word. */
static void rows_that_are_close(void **state)
{
	static const struct {
		struct text words;
		enum error_code code;
	} rows[] = {
		{TEXT("network a-b not found"), ERROR_NETWORK_MISSING},
		{TEXT("network of the thing was not found"), ERROR_ENGINE_FAILED},
		{TEXT("network  not found"), ERROR_ENGINE_FAILED},
		{TEXT("OCI Runtime \"x\" NOT FOUND"), ERROR_OCI_RUNTIME_MISSING},
		{TEXT("statfs /x: permission denied"), ERROR_ENGINE_FAILED},
		{TEXT("lstat /dev/a: no such file"), ERROR_DEVICE_MISSING},
		{TEXT("stat /dev/a: permission denied"), ERROR_ENGINE_FAILED},
		{TEXT("/run/cloop/init: no space left on device"), ERROR_NO_SPACE},
		{TEXT("mkdir /sys/fs/cgroup/x: permission denied"), ERROR_CGROUP_UNAVAILABLE},
		{TEXT("statfs /run/cloop/init: no such file or directory"),
			ERROR_MOUNT_SOURCE_MISSING},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(failure_code(rows[i].words), rows[i].code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_that_says_something),
		cmocka_unit_test(remedies_that_know_the_run),
		cmocka_unit_test(rows_that_are_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
