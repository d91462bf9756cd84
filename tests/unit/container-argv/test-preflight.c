#include "unit/unit.h"

#include "executor/container/preflight.h"

static const struct preflight_facts healthy = {
	.engine = ENGINE_PODMAN,
	.path = {"/usr/bin/podman", 15},
	.version = {"podman version 4.3.1", 20},
	.runroot_tmpfs = true,
	.network_none = true,
	.image = {"example.com/x:1", 15},
	.image_present = true,
};

static void failures_become_one_error(void **state)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(preflight_report) good = {0}, bad = {0};
	struct preflight_facts f = healthy;

	(void)state;
	preflight_judge(&f, &good);
	assert_true(preflight_ok(&good));
	assert_int_equal(preflight_err(&good, &err), 0);
	f.image_present = false;
	f.selinux_enforcing = true;
	preflight_judge(&f, &bad);
	assert_false(preflight_ok(&bad));
	assert_int_equal(preflight_err(&bad, &err), -1);
	assert_string_equal(err.message,
		"image: \"example.com/x:1\" is not there (fix: podman pull example.com/x:1); "
		"selinux: enforcing, and the sandbox may not touch the project without a label "
		"(fix: set selinux_label: z)");
}

static void an_old_runc_is_named(void **state)
{
	AUTO(preflight_report) r = {0}, pinned = {0};
	struct preflight_facts f = healthy;

	(void)state;
	f.runc_link_bug = true;
	preflight_judge(&f, &r);
	assert_int_equal(r.v[0].level, PREFLIGHT_WARN);
	f.images_pinned = true;
	preflight_judge(&f, &pinned);
	assert_int_equal(pinned.v[0].level, PREFLIGHT_OK);
}

static void versions_of_runc(void **state)
{
	static const struct {
		struct text version;
		bool old;
	} versions[] = {
		{TEXT("runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1"), true},
		{TEXT("runc version 1.3.5"), true},
		{TEXT("runc version 1.3.6"), false},
		{TEXT("runc version 1.3.10-rc1"), false},
		{TEXT("runc version 1.4.0"), false},
		{TEXT("runc version 2.0"), false},
		{TEXT("runc version 1"), true},
		{TEXT("crun version 1.8"), false},
		{TEXT(""), false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		assert_int_equal(preflight_runc_link_bug(versions[i].version), versions[i].old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_become_one_error),
		cmocka_unit_test(an_old_runc_is_named),
		cmocka_unit_test(versions_of_runc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
