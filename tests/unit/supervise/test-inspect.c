/* What both engines say of a container, and what no engine would (executor/container/inspect.h). */
#include "unit/unit.h"

#include "executor/container/inspect.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_podman(void **state)
{
	static const char text[] =
		"[{\"Id\":\"" ID
		"\",\"Created\":\"2026-11-29T14:46:53.123456789+01:00\",\"State\":{"
		"\"OciVersion\":\"1.0.2-dev\",\"Status\":\"running\",\"Running\":true,\"Paused\":"
		"false,\"OOMKilled\":false,\"Dead\":false,\"Pid\":4711,\"ExitCode\":0,"
		"\"StartedAt\":"
		"\"2026-11-29T14:46:54Z\"},\"Name\":\"cloop-p-0\",\"Config\":{\"Env\":[\"A=1\","
		"\"B=x=\\u00fc\\n\"],\"Labels\":{\"cloop.handle\":\"c-000000000001\",\"cloop."
		"home\":"
		"\"h\"}}}]\n";
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) i = INSPECTION_INIT;

	(void)state;
	assert_done(inspect_parse(text_of(text), &i, &err), &err);
	assert_string_equal(i.id, ID);
	assert_string_equal(i.status, "running");
	assert_string_equal(i.handle, "c-000000000001");
	assert_true(i.running);
	assert_int_equal(i.pid, 4711);
	assert_int_equal(i.exit_code, -1);
	assert_int_equal(i.env.n, 2);
	assert_string_equal(i.env.v[1], "B=x=\xc3\xbc\n");
	assert_string_equal(i.created_at, "2026-11-29T14:46:53.123456789+01:00");
}

static void test_docker(void **state)
{
	static const char text[] =
		"[{\"Id\":\"" ID "\",\"Created\":\"2026-11-29T14:46:53Z\",\"Name\":"
		"\"/cloop-p-0\",\"State\":{\"Status\":\"Exited\",\"Running\":false,"
		"\"OOMKilled\":true,\"Pid\":0,\"ExitCode\":137,\"StartedAt\":\"0001-"
		"01-01T00:00:00Z\"},\"Config\":{\"Env\":null,\"Labels\":null}}]";
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) i = INSPECTION_INIT;

	(void)state;
	assert_done(inspect_parse(text_of(text), &i, &err), &err);
	assert_string_equal(i.status, "exited");
	assert_false(i.running);
	assert_true(i.oom_killed);
	assert_int_equal(i.exit_code, 137);
	assert_int_equal(i.pid, 0);
	assert_null(i.handle);
	assert_int_equal(i.env.n, 0);
}

/* Everything that is not of the form is an error, never a container that is not there. */
static void test_hostile(void **state)
{
	static const char *const texts[] = {
		"",
		"null",
		"[]",
		"{}",
		"[null]",
		"[[]]",
		"[{}]",
		"[1,2]",
		"[{\"Id\":1}]",
		"[{\"Id\":\"x\"}]",
		"[{\"Id\":\"x\",\"State\":[]}]",
		"[{\"Id\":\"x\",\"State\":{\"Status\":7}}]",
		"[{\"Id\":null,\"State\":{\"Status\":\"x\"}}]",
		"[{\"Id\":\"x\",\"State\":{\"Status\":\"x\"}}",
		"[{\"Id\":\"x\",\"State\":{\"Sta",
		"[{\"Id\":\"x\",\"Id\":\"y\",\"State\":{\"Status\":\"x\"}}]",
		"Error: no such container",
	};

	(void)state;
	for (size_t n = 0; n < sizeof(texts) / sizeof(*texts); n++) {
		auto_error struct error err = ERROR_INIT;
		AUTO(inspection) i = INSPECTION_INIT;
		assert_int_equal(inspect_parse(text_of(texts[n]), &i, &err), -1);
		assert_int_equal(err.code, ERROR_ENGINE_FAILED);
	}
}

/* Members of the wrong type are as good as missing. */
static void test_odd_members(void **state)
{
	static const char text[] =
		"[{\"Id\":\"x\",\"Created\":5,\"State\":{\"Status\":\"Running\",\"Pid\":\"7\","
		"\"ExitCode\":true,\"OOMKilled\":1},\"Config\":{\"Env\":{\"A\":1},\"Labels\":[1]}}"
		"]";
	static const char many[] = "[{\"Id\":\"x\",\"State\":{\"Status\":\"dead\",\"Pid\":-5},"
				   "\"Config\":{\"Env\":[1,null,\"A=1\",[],\"B=2\"]}}]";
	auto_error struct error err = ERROR_INIT;
	AUTO(inspection) i = INSPECTION_INIT;
	AUTO(inspection) j = INSPECTION_INIT;

	(void)state;
	assert_done(inspect_parse(text_of(text), &i, &err), &err);
	assert_true(i.running);
	assert_int_equal(i.pid, 0);
	assert_false(i.oom_killed);
	assert_null(i.created_at);
	assert_null(i.handle);
	assert_int_equal(i.env.n, 0);
	assert_done(inspect_parse(text_of(many), &j, &err), &err);
	assert_int_equal(j.pid, 0);
	assert_int_equal(j.exit_code, -1);
	assert_int_equal(j.env.n, 2);
}

static void test_has_started(void **state)
{
	static char *const times[] = {"2026-11-30T00:54:20.369Z", "0001-01-01T00:00:00Z", "", NULL};

	(void)state;
	for (size_t n = 0; n < sizeof(times) / sizeof(*times); n++) {
		struct inspection i = {.started_at = times[n]};
		assert_int_equal(inspect_has_started(&i), n == 0);
	}
}

static void test_unknown(void **state)
{
	static const struct {
		const char *words;
		bool unknown;
	} cases[] = {
		{"Error: inspecting object: no such container \"x\"\n", true},
		{"Error: No such container: x\n", true},
		{"Error response from daemon: No such object: x", true},
		{"Error: no container with name or ID \"x\" found: no such container", true},
		{"", false},
		{"Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
			false},
		{"Error: open /run/libpod: no such file or directory", false},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++)
		assert_int_equal(inspect_says_unknown(text_of(cases[n].words)), cases[n].unknown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_podman),
		cmocka_unit_test(test_docker),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_odd_members),
		cmocka_unit_test(test_has_started),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
