#include "unit/unit.h"

#include "base/json.h"
#include "executor/gate.h"

static const struct candidate host = {.id = TEXT("host"),
	.isolation = TEXT("none"),
	.network_off = TEXT("no"),
	.network_egress = true};
static const struct candidate box = {.id = TEXT("box"),
	.isolation = TEXT("container"),
	.network_off = TEXT("enforced"),
	.image_override = true,
	.network_egress = true};
static const struct candidate kube = {.id = TEXT("k8s"),
	.kind = TEXT("kubernetes"),
	.isolation = TEXT("container"),
	.network_off = TEXT("unproven"),
	.image_override = true};

struct expect {
	const char *what;
	const struct candidate *bound;
	struct check_policy policy;
	struct requirement need;
	enum error_code code; /* ERROR_NONE = passes */
	const char *constraint;
	bool unproven;
	const char *said; /* in the message or the remedy */
};

static const struct expect expects[] = {
	{"the host wants a sandbox first", &host, {.host_execution = true},
		{.image_override = true}, ERROR_HOST_EXECUTION_DENIED, "image_override", false,
		"box, k8s"},
	{"a program is no matter of isolation", &host, {.host_execution = true},
		{.harnesses = {.v = (char *[]){"git", NULL}, .n = 1}}, ERROR_NONE, NULL, false,
		NULL},
	{"strict mode", &host, {0}, {.stream = false}, ERROR_HOST_EXECUTION_DENIED,
		"host_execution_policy", false, "allow_host_process"},
	{"isolation required", &host, {.host_execution = true}, {.isolation_required = true},
		ERROR_HOST_EXECUTION_DENIED, "isolation", false, "box, k8s"},
	{"nothing else can", &box, {0}, {.virtualization = true}, ERROR_SANDBOX_UNSUPPORTED,
		"virtualization", false, "no other registered executor"},
	{"unproven is enough for any", &kube, {0}, {.network_off = REQUIREMENT_NETWORK_OFF_ANY},
		ERROR_NONE, NULL, true, NULL},
	{"and not for enforced", &kube, {0}, {.network_off = REQUIREMENT_NETWORK_OFF_ENFORCED},
		ERROR_SANDBOX_UNSUPPORTED, "network_off", false, "--probe-network-policy"},
	{"no warning where it is enforced", &box, {0}, {.network_off = REQUIREMENT_NETWORK_OFF_ANY},
		ERROR_NONE, NULL, false, NULL},
	{"the moment does not count", &box, {0}, {.executor_id = "other", .min_memory_mb = 1 << 30},
		ERROR_NONE, NULL, false, NULL},
};

static void check(const struct expect *e)
{
	const struct candidate registered[] = {kube, host, box};
	auto_error struct error err = ERROR_INIT;
	bool unproven = false;
	const struct gate gate = {
		&e->policy, &e->need, e->bound, registered, ARRAY_SIZE(registered)};
	int result = gate_check(&gate, &unproven, &err);

	print_message("%s\n", e->what);
	assert_int_equal(result, e->code == ERROR_NONE ? 0 : -1);
	assert_int_equal(err.code, e->code);
	assert_int_equal(unproven, e->unproven);
	if (e->code == ERROR_NONE)
		return;
	assert_string_equal(json_get_string(err.details, "constraint"), e->constraint);
	assert_true(json_is_array(json_object_get(err.details, "alternatives")));
	assert_true(strstr(err.message, e->said) || strstr(error_remedy(&err), e->said));
}

static void test_gate(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < ARRAY_SIZE(expects); i++)
		check(&expects[i]);
}

static void test_constraint_names(void **unused)
{
	(void)unused;
	for (enum constraint c = 0; c < CONSTRAINT_COUNT; c++)
		assert_int_equal(constraint_from_text(text_of(constraint_text(c))), c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_constraint_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
