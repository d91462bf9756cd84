#include "unit/unit.h"

#include "executor/container/request.h"
#include "executor/executor.h"
#include "executor/localprocess/local-driver.h"
#include "executor/localprocess/local-launch.h"
#include "executor/localprocess/local-plan.h"
#include "executor/rundir/record.h"
#include "sys/file.h"

static char home[] = "/tmp/test-local-start-XXXXXX";

static int make_home(void **unused)
{
	(void)unused;
	return mkdtemp(home) ? 0 : -1;
}

static int remove_home(void **unused)
{
	auto_error struct error err = ERROR_INIT;

	(void)unused;
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return file_remove_tree_at(tmp, home + strlen("/tmp/"), &err);
}

static enum error_code refused(const struct container_request *wish)
{
	static const struct text argv[] = {TEXT("true")};
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(executor) e = local_driver_new(home);
	struct container_request request = *wish;
	struct executor_start start = {.home = home, .request = &request, .cancel_fd = -1};
	char handle[EXECUTOR_HANDLE_SIZE] = "x";

	if (!request.argv) {
		request.argv = argv;
		request.n_argv = 1;
	}
	assert_int_equal(executor_start(e, &start, handle, &err), -1);
	assert_string_equal(handle, "");
	return err.code;
}

static void test_wishes_are_refused(void **unused)
{
	static const struct request_mount mount = {.source = TEXT("a"), .target = TEXT("/a")};
	static const struct request_device device = {.name = TEXT("d")};
	static const struct request_interface interface = {.name = TEXT("i")};
	static const struct request_label label = {TEXT("k"), TEXT("v")};
	static const struct text dns[] = {TEXT("1.1.1.1")};
	static const struct container_request wishes[] = {
		{.disable_network = true},
		{.egress_scope = TEXT("public")},
		{.egress_scope = TEXT("none")},
		{.network = TEXT("n")},
		{.dns = dns, .n_dns = 1},
		{.has_limits = true, .limits = {.cpu_millis = 1}},
		{.has_limits = true, .limits = {.memory_mb = 1}},
		{.has_limits = true, .limits = {.pids = 1}},
		{.has_limits = true, .limits = {.disk_mb = 1}},
		{.mounts = &mount, .n_mounts = 1},
		{.host_mounts = &mount, .n_host_mounts = 1},
		{.secret_dirs = &mount, .n_secret_dirs = 1},
		{.devices = &device, .n_devices = 1},
		{.interfaces = &interface, .n_interfaces = 1},
		{.labels = &label, .n_labels = 1},
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		struct container_request r = wishes[i];
		r.work_dir = TEXT("/");
		assert_int_equal(refused(&r), ERROR_EXECUTOR_UNSUPPORTED);
	}
}

static void test_bad_input(void **unused)
{
	static const struct text nul[] = {TEXT("a\0b")}, blank[] = {TEXT(" ")};
	static const struct text no_equals[] = {TEXT("NAME")}, bad_name[] = {TEXT("1=x")},
				 value[] = {TEXT("A=\0")};
	const struct {
		struct container_request request;
		enum error_code code;
	} rows[] = {
		{{.work_dir = TEXT("/"), .argv = nul, .n_argv = 1}, ERROR_ARGV_INVALID},
		{{.work_dir = TEXT("/"), .argv = blank, .n_argv = 1}, ERROR_ARGV_EMPTY},
		{{.work_dir = TEXT("/"), .argv = blank, .n_argv = 0}, ERROR_ARGV_EMPTY},
		{{.work_dir = TEXT("")}, ERROR_WORK_DIR_MISSING},
		{{.work_dir = TEXT("/no/such/project")}, ERROR_NOT_A_PROJECT},
		{{.work_dir = TEXT("/etc/passwd")}, ERROR_NOT_A_PROJECT},
		{{.work_dir = TEXT("/"), .env = no_equals, .n_env = 1}, ERROR_ENV_ENTRY_INVALID},
		{{.work_dir = TEXT("/"), .env = bad_name, .n_env = 1}, ERROR_ENV_NAME_INVALID},
		{{.work_dir = TEXT("/"), .env = value, .n_env = 1}, ERROR_ENV_VALUE_NUL},
	};

	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(refused(&rows[i].request), rows[i].code);
}

static void test_capabilities(void **unused)
{
	AUTO_PTR(executor) e = local_driver_new(NULL);
	struct candidate c;

	(void)unused;
	executor_capabilities(e, &c);
	assert_false(candidate_isolates(&c));
	assert_true(candidate_ready(&c) && text_is(c.id, "localprocess"));
	assert_true(text_is(c.isolation, "none") && text_is(c.network_off, "no"));
	assert_true(c.network_egress && c.shares_host_filesystem && c.stream && c.signal);
	assert_false(c.resource_limits || c.pids_limit || c.disk_enforcement.len ||
		     c.image_override || c.sandbox_build || c.sandbox_mounts || c.egress_scope ||
		     c.devices || c.interfaces || c.attach || c.secret_files || c.revocation);
}

static void test_plan_round_trip(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(local_plan) p = LOCAL_PLAN_INIT;
	AUTO(local_plan) again = LOCAL_PLAN_INIT;

	(void)unused;
	p.project = strdup("/a/\xff");
	strv_add(&p.command, "sh");
	strv_add(&p.command, "\xfe\n");
	strv_add(&p.redact, "TOKEN");
	p.stop_grace_ms = 10000;
	p.timeout_ms = 0;
	p.log_max_mb = 64;
	auto_json *j = local_plan_to_json(&p);
	assert_done(local_plan_from_json(j, &again, &err), &err);
	auto_json *rewritten = local_plan_to_json(&again);
	assert_true(json_equal(j, rewritten));
	assert_string_equal(again.command.v[1], "\xfe\n");
}

static void test_plan_refuses(void **unused)
{
	static const char *const keys[] = {
		"project", "command", "redact", "stop_grace_ms", "timeout_ms", "log_max_mb"};
	auto_error struct error err = ERROR_INIT;
	AUTO(local_plan) p = LOCAL_PLAN_INIT;

	(void)unused;
	p.project = strdup("/a");
	strv_add(&p.command, "sh");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		AUTO(local_plan) got = LOCAL_PLAN_INIT;
		auto_json *j = local_plan_to_json(&p);
		json_object_set_new(j, keys[i], json_true());
		assert_int_equal(local_plan_from_json(j, &got, &err), -1);
		assert_int_equal(err.code, ERROR_IO);
		assert_non_null(strstr(err.message, keys[i]));
	}
}

static void test_launch_can_be_read_twice(void **unused)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(strv) env = STRV_INIT(4);

	(void)unused;
	strv_add(&env, "A=1");
	strv_add(&env, "B=\xff\n");
	auto_fd int fd = local_launch_write(&env, &err);
	assert_true(fd >= 0);
	for (int i = 0; i < 2; i++) {
		AUTO(launch) l = LAUNCH_INIT;
		assert_done(local_launch_read(fd, &l, &err), &err);
		assert_int_equal(l.run_env.n, 2);
		assert_string_equal(l.run_env.v[1], "B=\xff\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wishes_are_refused),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_plan_round_trip),
		cmocka_unit_test(test_plan_refuses),
		cmocka_unit_test(test_launch_can_be_read_twice),
	};
	return cmocka_run_group_tests(tests, make_home, remove_home);
}
