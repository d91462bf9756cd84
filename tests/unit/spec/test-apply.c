/* Remedies and the promise that a refused run is what it was; the steps are in the cases. */
#include "unit/spec/spec-unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "spec/apply.h"

static const struct apply_grant grants[] = {
	{"egress_1", "ci", true, true},
	{"egress_2", "deps", true, true},
	{"egress_3", "old", false, true},
	{"egress_4", "theirs", true, false},
	{"egress_5", NULL, true, true},
	{"egress_6", NULL, true, true},
	{"egress_7", NULL, true, true},
	{"egress_8", NULL, true, true},
	{"egress_9", NULL, true, true},
	{"egress_10", NULL, true, true},
	{"egress_11", NULL, true, true},
};
static const struct apply_facts facts = {.grants = grants,
	.n_grants = ARRAY_SIZE(grants),
	.executor_network = "bridge",
	.project = "/srv/p"};

static void refused(const char *yaml, struct error *err)
{
	AUTO(spec_result) file = {0};
	AUTO(run_spec) run = RUN_SPEC_INIT;
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);

	strv_add(&run.devices, "serial0");
	strv_add(&run.interfaces, "dut");
	mem_set_string(&run.image, "theirs");
	auto_json *before = run_spec_to_json(&run);
	unit_parse(yaml, &file);
	assert_true(file.ok);
	assert_int_equal(apply_spec(&file, &facts, &run, &warnings, err), -1);
	auto_json *after = run_spec_to_json(&run);
	assert_true(json_equal(before, after));
	assert_int_equal(warnings.n, 0);
}

static void denied_grant_says_which_ones_are_held(void **state)
{
	auto_error struct error err = ERROR_INIT;

	(void)state;
	refused("image: a\ncapabilities: {network: ci}\n", &err);
	const char *remedy = error_remedy(&err);
	assert_int_equal(err.code, ERROR_SANDBOX_GRANT_DENIED);
	assert_non_null(strstr(remedy, "write network: egress_1"));
	assert_non_null(strstr(remedy, "egress_2"));
	assert_null(strstr(remedy, "egress_3"));
	assert_null(strstr(remedy, "egress_4"));
	assert_non_null(strstr(remedy, "egress_10 and 1 more"));
	assert_null(strstr(remedy, "egress_11"));
	assert_non_null(strstr(remedy, "cloop egress list"));
	assert_non_null(strstr(remedy, "cloop egress grant"));
}

static void missing_names_are_all_told_in_file_order(void **state)
{
	auto_error struct error err = ERROR_INIT;

	(void)state;
	refused("image: a\ncapabilities: {devices: [z, serial0, a], interfaces: [], network: "
		"egress_1}",
		&err);
	assert_int_equal(err.code, ERROR_SANDBOX_DEVICE_NOT_GRANTED);
	auto_free char *names = json_write(json_object_get(err.details, "names"));
	assert_string_equal(names, "[\"z\",\"a\"]");
	assert_string_equal(error_remedy(&err),
		"cloop secret grant SECRET --subject project:/srv/p --devices z,a");
}

/* Devices are judged before interfaces, both before the grant. */
static void order_of_refusals(void **state)
{
	auto_error struct error err = ERROR_INIT;

	(void)state;
	refused("capabilities: {devices: [x], interfaces: [y], network: egress_no}", &err);
	assert_int_equal(err.code, ERROR_SANDBOX_DEVICE_NOT_GRANTED);
	refused("capabilities: {interfaces: [y], network: egress_no}", &err);
	assert_int_equal(err.code, ERROR_SANDBOX_INTERFACE_NOT_GRANTED);
	refused("image: a", &err);
	assert_int_equal(err.code, ERROR_INTERFACES_WITHOUT_NETWORK);
	assert_non_null(strstr(error_remedy(&err), "interfaces: []"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denied_grant_says_which_ones_are_held),
		cmocka_unit_test(missing_names_are_all_told_in_file_order),
		cmocka_unit_test(order_of_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
