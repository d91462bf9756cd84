#include "unit/unit.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "config/config.h"
#include "unit/sys/unit-dir.h"

#define CONTAINER(text) "executors:\n  container:\n    " text

/* A text, and "PATH CODE" of each problem in order; NULL = valid. */
static const struct {
	const char *yaml;
	const char *problems[4];
} texts[] = {
	{"", {NULL}},
	{"# nothing\n", {NULL}},
	{"hub: {}\nsandbox:\norchestrator: ~\n", {NULL}},
	{"executors: [a]\n", {"executors wrong_type"}},
	{"a: 1\nexecutors: {}\nexecutors: {}\n", {"a unknown_key", "executors duplicate_key"}},
	{"hub: {port: 80}\n", {"hub.port unknown_key"}},
	{CONTAINER("id: A B"), {"executors.container.id executor_id_invalid"}},
	{CONTAINER("id: ''"), {NULL}},
	{CONTAINER("network: host"), {"executors.container.network network_host"}},
	{CONTAINER("cpus: 1.5"), {NULL}},
	{CONTAINER("cpus: 1.0005"), {"executors.container.cpus cpus_invalid"}},
	{CONTAINER("cpus: -1"), {"executors.container.cpus cpus_invalid"}},
	{CONTAINER("cpus: [1]"), {"executors.container.cpus wrong_type"}},
	{CONTAINER("memory: 2g"), {NULL}},
	{CONTAINER("memory: 63m"), {"executors.container.memory memory_invalid"}},
	{CONTAINER("memory: 2t"), {"executors.container.memory memory_invalid"}},
	{CONTAINER("memory: 2gb"), {"executors.container.memory not_a_size"}},
	{CONTAINER("memory_mb: 64"), {"executors.container.memory_mb unknown_key"}},
	{CONTAINER("pids_limit: -7"), {NULL}},
	{CONTAINER("pids_limit: 4194305"), {"executors.container.pids_limit pids_invalid"}},
	{CONTAINER("start_timeout_seconds: 9"),
		{"executors.container.start_timeout_seconds option_out_of_range"}},
	{CONTAINER("stop_grace_seconds: -1"),
		{"executors.container.stop_grace_seconds option_out_of_range"}},
	{CONTAINER("orphan_grace_period_seconds: -9"), {NULL}},
	{CONTAINER("group_add: [44, \"109\"]"), {NULL}},
	{CONTAINER("group_add: [0]"), {"executors.container.group_add group_add_invalid"}},
	{CONTAINER("allow_hosts: ['a:10.0.0.1']"),
		{"executors.container.allow_hosts allow_hosts_without_network"}},
	{CONTAINER("allow_hosts: ['a:10.0.0.1']\n    network: bridge"), {NULL}},
	/* A rule across keys says nothing where the other key is wrong by itself. */
	{CONTAINER("allow_hosts: ['a:10.0.0.1']\n    network: host"),
		{"executors.container.network network_host"}},
	{CONTAINER("extra_args: [--privileged]\n    image: UPPER\n    selinux_label: q"),
		{"executors.container.extra_args extra_arg_not_allowed",
			"executors.container.image uppercase",
			"executors.container.selinux_label selinux_label_invalid"}},
	{CONTAINER("runtime: docker\n    extra_args: [--tz=UTC]"),
		{"executors.container.extra_args extra_arg_engine"}},
	{CONTAINER("enabled: false\n    oci_runtime: /bin/runc"),
		{"executors.container.oci_runtime oci_runtime_path"}},
	{CONTAINER("egress_filter: {enabled: false, allow_cidrs: [10.0.0.0/8], allow_ports: "
		   "[443]}"),
		{NULL}},
	{CONTAINER("egress_filter: {enabled: false, allow_cidrs: [10.0.0.0/8, x]}"),
		{"executors.container.egress_filter.allow_cidrs[1] egress_cidr_invalid"}},
	{CONTAINER("egress_filter: {allow_cidrs: [168.63.0.0/16], allow_ports: [80]}"),
		{"executors.container.egress_filter.allow_cidrs[0] egress_cidr_metadata"}},
	{CONTAINER("egress_filter: {allow_cidrs: [10.0.0.0/8]}"),
		{"executors.container.egress_filter.allow_ports egress_ports_missing"}},
	{CONTAINER("egress_filter: {allow_cidrs: [10.0.0.0/8], allow_ports: []}"),
		{"executors.container.egress_filter.allow_ports egress_ports_missing"}},
	{CONTAINER("egress_filter: {broker: here}"),
		{"executors.container.egress_filter.broker egress_broker_invalid"}},
	{CONTAINER("egress_filter: {subnet_pool: 9.0.0.0/8}"),
		{"executors.container.egress_filter.subnet_pool egress_pool_invalid"}},
	{CONTAINER("egress_filter: {enabled: true, internal: true}"),
		{"executors.container.egress_filter egress_filter_network_none"}},
	{CONTAINER("egress_filter: {enabled: true}\n    network: bridge"),
		{"executors.container.egress_filter egress_filter_empty"}},
	{CONTAINER("egress_filter: {enabled: true, internal: true}\n    network: bridge"), {NULL}},
	{CONTAINER("allow_root_user: yes"), {"executors.container.allow_root_user wrong_type"}},
	{CONTAINER("disk_quota: on"), {"executors.container.disk_quota not_a_choice"}},
	{"executors: {default: -x}\n", {"executors.default executor_id_invalid"}},
	{"executors: {min_agent_build: latest}\n", {NULL}},
	{"executors: {image_provenance: required}\n", {NULL}},
	{"executors: {image_provenance: maybe}\n", {"executors.image_provenance not_a_choice"}},
	{"executors: {published_images: {issuer: x}}\n",
		{"executors.published_images.issuer bad_issuer"}},
	{"executors: {published_images: {issuer: '', subject_regexp: ^a}}\n",
		{"executors.published_images.issuer required",
			"executors.published_images.subject_regexp not_anchored"}},
	{"executors: {published_images: {repositories: [GHCR.io/a/b, docker.io/x], issuer: "
	 "null}}\n",
		{NULL}},
	{"executors: {published_images: {repositories: []}}\n", {NULL}},
	{"executors: {published_images: {repositories: [a/b, ghcr.io/a/*, ghcr.io/a:1]}}\n",
		{"executors.published_images.repositories[0] repo_needs_registry",
			"executors.published_images.repositories[1] bad_wildcard",
			"executors.published_images.repositories[2] tag_in_repo"}},
	{"executors: {published_images: {repositories: ['', 1, ghcr.io]}}\n",
		{"executors.published_images.repositories[0] empty_entry",
			"executors.published_images.repositories[1] wrong_type",
			"executors.published_images.repositories[2] registry_without_repository"}},
	{"executors: {egress: {listen_addr: '10.0.0.1:1', advertise_addr: hub.example}}\n", {NULL}},
	{"executors: {egress: {listen_addr: '', advertise_addr: ''}}\n", {NULL}},
	{"executors: {egress: {listen_addr: '0.0.0.0:1', advertise_addr: 'localhost:1'}}\n",
		{"executors.egress.listen_addr egress_listen_invalid",
			"executors.egress.advertise_addr egress_advertise_invalid"}},
	{"executors: {egress: {max_session_minutes: 0}}\n",
		{"executors.egress.max_session_minutes below_minimum"}},
	{"executors: {kubernetes: {enabled: true}}\n",
		{"executors.kubernetes.enabled not_available_yet"}},
	{"executors: {kubernetes: {enabled: false}}\n", {NULL}},
	{"sandbox: {image_policy: {allowed_registries: [], cosign_public_keys: [/k]}}\n", {NULL}},
	{"sandbox: {image_policy: {allowed_registries: [quay.io], require_digest: true}}\n",
		{NULL}},
	{"sandbox: {image_policy: {allowed_repos: [a/b], default_registry: a}}\n",
		{"sandbox.image_policy.allowed_repos[0] repo_needs_registry",
			"sandbox.image_policy.default_registry bad_host"}},
	{"sandbox: {image_policy: {cosign_identities: [{issuer: a, x: b}]}}\n",
		{"sandbox.image_policy.cosign_identities[0].subject_regexp required",
			"sandbox.image_policy.cosign_identities[0].issuer bad_issuer",
			"sandbox.image_policy.cosign_identities[0].x unknown_key"}},
	{"orchestrator: {min_free_disk_mb: 63}\n", {"orchestrator.min_free_disk_mb out_of_range"}},
	{"orchestrator: {min_free_disk_mb: 0}\n", {NULL}},
};

static int parse(const char *yaml, struct config *ret, struct problems *errors)
{
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);

	return config_parse(text_of(yaml), ret, errors, &warnings);
}

static void test_problems(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
		AUTO(config) config = {0};
		const char *const *wanted = texts[i].problems;
		int result = parse(texts[i].yaml, &config, &errors);
		size_t n = 0;

		for (; n < 4 && wanted[n]; n++) {
			assert_true(n < errors.n);
			auto_free char *got =
				mem_printf("%s %s", errors.v[n].path, errors.v[n].code);
			assert_string_equal(got, wanted[n]);
			assert_true(errors.v[n].at.line > 0);
			assert_true(errors.v[n].message[0] && errors.v[n].remedy[0]);
		}
		if (errors.n != n)
			fail_msg("%s: %s", texts[i].yaml, errors.v[n].path);
		assert_int_equal(result, n > 0);
	}
}

static void test_defaults(void **unused)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(config) c = {0};

	(void)unused;
	assert_int_equal(parse("", &c, &errors), 0);
	assert_string_equal(config_default_executor(&c), "container");
	assert_false(config_policy(&c).host_execution);
	assert_true(c.container_enabled && c.container.protect_project_files && c.disk_quota);
	assert_int_equal(c.container.pids_limit, 1024);
	assert_int_equal(c.container.start_timeout_seconds, 120);
	assert_string_equal(c.container.network, "none");
	assert_string_equal(c.container.image, CONTAINER_DEFAULT_IMAGE);
	assert_int_equal(c.min_free_disk_mb, 1024);
	assert_int_equal(c.orphan_sweep_interval_minutes, 15);
	assert_ptr_equal(config_executor_settings(&c, "/h").container, &c.container);
}

static void test_values(void **unused)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(config) c = {0};

	(void)unused;
	assert_int_equal(parse("executors:\n"
			       "  min_agent_build: v1.2.3\n"
			       "  limits: {max_cpu: 0.5, max_memory: 1g}\n"
			       "  container:\n"
			       "    id: box\n"
			       "    network: bridge\n"
			       "    cpus: 2.125\n"
			       "    memory: 512m\n"
			       "    pids_limit: -1\n"
			       "    group_add: [44]\n"
			       "    allow_hosts: ['a:10.0.0.1', 'b:10.0.0.2']\n"
			       "    log_max_mb: 1\n"
			       "    disk_quota: off\n",
				 &c, &errors),
		0);
	assert_string_equal(config_default_executor(&c), "box");
	assert_int_equal(c.fleet.cpu_millis, 500);
	assert_int_equal(c.fleet.memory_mb, 1024);
	assert_int_equal(c.container.cpu_millis, 2125);
	assert_int_equal(c.container.memory_mb, 512);
	assert_int_equal(c.container.pids_limit, -1);
	assert_int_equal(c.container.group_add[0], 44);
	assert_int_equal(c.container.allow_hosts.n, 2);
	assert_int_equal(c.container.log_max_mb, 1);
	assert_false(c.disk_quota);
	assert_true(text_is(config_policy(&c).min_agent_build, "v1.2.3"));
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	auto_error struct error err = ERROR_INIT;

	assert_done(file_replace_at(dir, name, mode, text_of(text), false, &err), &err);
}

static enum error_code load_code(const char *name)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *file = mem_printf("%s/%s", path, name);
	AUTO(config) config = {0};
	int result = config_load(file, &config, &err);

	assert_int_equal(result, err.code == ERROR_NONE ? 0 : -1);
	return err.code;
}

static void test_files(void **unused)
{
	auto_free char *big = mem_alloc(CONFIG_MAX_BYTES + 2);

	(void)unused;
	memset(big, '#', CONFIG_MAX_BYTES + 1);
	write_file("good", "hub: {}\n", 0600);
	write_file("broken", "executors: {x: 1, limits: {max_cpu: -1}}\n", 0600);
	write_file("limits", "executors: {limits: {max_cpu: -1, max_pids: x}}\n", 0600);
	write_file("group", "hub: {}\n", 0620);
	write_file("others", "hub: {}\n", 0602);
	write_file("big", big, 0600);
	assert_int_equal(symlinkat("good", dir, "link"), 0);
	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
	assert_int_equal(mkdirat(dir, "dir", 0700), 0);

	assert_int_equal(load_code("absent"), ERROR_NONE);
	assert_int_equal(load_code("good"), ERROR_NONE);
	assert_int_equal(load_code("broken"), ERROR_CONFIG_INVALID);
	assert_int_equal(load_code("limits"), ERROR_LIMITS_CONFIGURATION);
	assert_int_equal(load_code("group"), ERROR_CONFIG_UNSAFE);
	assert_int_equal(load_code("others"), ERROR_CONFIG_UNSAFE);
	assert_int_equal(load_code("big"), ERROR_CONFIG_UNSAFE);
	assert_int_equal(load_code("link"), ERROR_CONFIG_UNSAFE);
	assert_int_equal(load_code("fifo"), ERROR_CONFIG_UNSAFE);
	assert_int_equal(load_code("dir"), ERROR_CONFIG_UNSAFE);
}

static void test_warning(void **unused)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	AUTO(config) c = {0};

	(void)unused;
	assert_int_equal(
		config_parse(TEXT("executors: {min_agent_build: latest}"), &c, &errors, &warnings),
		0);
	assert_int_equal(warnings.n, 1);
	assert_string_equal(warnings.v[0].path, "executors.min_agent_build");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values),
		IN_DIR(test_files),
		cmocka_unit_test(test_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
