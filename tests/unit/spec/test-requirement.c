#include "unit/spec/spec-unit.h"

#include "base/mem.h"
#include "spec/requirement.h"

static char *names_of(const struct sandbox_spec *spec, const struct run_spec *run)
{
	AUTO(requirement) need = {0};
	AUTO(strv) names = STRV_INIT(REQUIREMENT_NAMES_MAX);

	requirement_of(spec, run, &need);
	requirement_names(&need, &names);
	return strv_join(&names, " ");
}

static void check(const char *yaml, const struct run_spec *run, const char *wanted)
{
	AUTO(spec_result) file = {0};

	unit_parse(yaml, &file);
	assert_true(file.ok);
	auto_free char *names = names_of(file.present ? &file.spec : NULL, run);
	assert_string_equal(names, wanted);
}

static void order_of_the_file(void **state)
{
	(void)state;
	check("mounts: [{source: a, target: /a}]\nsetup: [x]\nimage: a\n"
	      "resources: {disk: 1g, pids: 1}\n"
	      "capabilities: {git: true, kernel_isolated: true, virtualized: true, devices: [a],"
	      " interfaces: [b], egress: public, network: egress_a}\n",
		NULL,
		"image_override sandbox_build sandbox_mounts resource_limits pids_limit disk_limit "
		"network_egress egress_scope devices interfaces virtualization kernel_isolation "
		"git");
	check("capabilities: {egress: none}", NULL, "network_off_enforced");
	check("# nothing", NULL, "");
}

static void what_the_hub_adds(void **state)
{
	AUTO(run_spec) run = RUN_SPEC_INIT;

	(void)state;
	strv_add(&run.devices, "serial0");
	strv_add(&run.interfaces, "dut");
	run.host_mounts = run.write_back = run.revocation = run.secret_files = true;
	run.branch_bundle = run.project_seed = true;
	run.workspace = RUN_WORKSPACE_GIT;
	mem_set_string(&run.harness, "claude");
	check("image: a", &run,
		"image_override network_off devices interfaces host_mounts workspace_provisioning "
		"write_back branch_bundle project_seed secret_files revocation harnesses");
	run.workspace = RUN_WORKSPACE_BIND;
	mem_set_string(&run.harness, "git");
	check("# nothing", &run,
		"devices interfaces git host_mounts shares_host_filesystem write_back "
		"branch_bundle "
		"project_seed secret_files revocation");
}

/* A selection of the file decides; it may be the empty one. */
static void selections_count_before_grants(void **state)
{
	AUTO(run_spec) run = RUN_SPEC_INIT;

	(void)state;
	strv_add(&run.devices, "serial0");
	strv_add(&run.interfaces, "dut");
	check("capabilities: {devices: [], interfaces: []}", &run, "network_off");
	check("capabilities: {devices: [serial0], interfaces: []}", &run, "network_off devices");
}

/* The same words for a run spec as for a file. */
static void a_run_spec_alone(void **state)
{
	AUTO(run_spec) run = RUN_SPEC_INIT;

	(void)state;
	mem_set_string(&run.image, "a");
	strv_add(&run.setup, "x");
	run.limits.pids = 1;
	run.network_off = true;
	auto_free char *off = names_of(NULL, &run);
	assert_string_equal(
		off, "image_override sandbox_build resource_limits pids_limit network_off");
	run.network_off = false;
	mem_set_string(&run.grant, "egress_a");
	mem_set_string(&run.egress_scope, "public");
	auto_free char *on = names_of(NULL, &run);
	assert_string_equal(on, "image_override sandbox_build resource_limits pids_limit "
				"network_egress egress_scope");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_the_file),
		cmocka_unit_test(what_the_hub_adds),
		cmocka_unit_test(selections_count_before_grants),
		cmocka_unit_test(a_run_spec_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
