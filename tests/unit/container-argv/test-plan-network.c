#include "unit/unit.h"

#include "executor/container/plan-network.h"

/* What is said of a network, and that request.json keeps it. */
static void warnings_of_a_plan(void **state)
{
	static const struct {
		struct plan_network plan;
		bool session;
		const char *codes[PLAN_NETWORK_WARNINGS_MAX];
	} rows[] = {
		{{.kind = NETWORK_PLAN_NONE}, false, {NULL}},
		{{.kind = NETWORK_PLAN_CONFIGURED}, false, {NULL}},
		{{.kind = NETWORK_PLAN_CONFIGURED}, true, {"egress_unenforced"}},
		{{.kind = NETWORK_PLAN_CONFIGURED, .filter_idle = true}, false,
			{"egress_filter_disabled"}},
		{{.kind = NETWORK_PLAN_CONFIGURED, .filter_idle = true}, true,
			{"egress_unenforced", "egress_filter_disabled"}},
		{{.kind = NETWORK_PLAN_RUN, .table = true}, true, {NULL}},
		{{.kind = NETWORK_PLAN_RUN, .table = true, .extra_dns_ignored = true}, false,
			{"extra_dns_ignored"}},
		{{.kind = NETWORK_PLAN_INTERNAL, .table = true}, true, {NULL}},
		{{.kind = NETWORK_PLAN_INTERNAL}, true, {"internal_host_open"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plan_network_warning got[PLAN_NETWORK_WARNINGS_MAX];
		size_t n = plan_network_warnings(&rows[i].plan, rows[i].session, got);
		for (size_t k = 0; k < n; k++)
			assert_string_equal(got[k].code, rows[i].codes[k]);
		assert_true(n == PLAN_NETWORK_WARNINGS_MAX || !rows[i].codes[n]);
	}
}

static void an_idle_filter_is_kept(void **state)
{
	struct plan_network before = {.kind = NETWORK_PLAN_CONFIGURED, .filter_idle = true};
	struct plan_network after = PLAN_NETWORK_INIT;
	auto_json *j = plan_network_to_json(&before);

	(void)state;
	assert_int_equal(plan_network_from_json(j, &after), 0);
	assert_true(after.kind == NETWORK_PLAN_CONFIGURED && after.filter_idle);
}

/* What counts only when it is enabled; the rest also serves `egress: public`. */
static void filters_that_are_idle(void **state)
{
	AUTO(egress_filter) f;

	(void)state;
	egress_filter_init(&f);
	assert_false(egress_filter_idle(&f));
	assert_int_equal(strv_add(&f.resolvers, "9.9.9.9"), 0);
	assert_int_equal(strv_add(&f.deny_cidrs, "192.0.2.0/24"), 0);
	assert_false(egress_filter_idle(&f));
	f.internal = true;
	assert_true(egress_filter_idle(&f));
	f.internal = false;
	assert_int_equal(strv_add(&f.allow_ports, "443"), 0);
	assert_true(egress_filter_idle(&f));
	f.enabled = true;
	assert_false(egress_filter_idle(&f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_of_a_plan),
		cmocka_unit_test(an_idle_filter_is_kept),
		cmocka_unit_test(filters_that_are_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
