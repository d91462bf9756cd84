/* What libcloop judges without a host: options, words, names, filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "cloop/container.h"

static struct cloop_error *err;

static void assert_fails(int result, const char *code)
{
	assert_int_equal(result, -1);
	assert_string_equal(cloop_error_code(err), code);
	cloop_error_clear(err);
}

static void test_defaults(void **state)
{
	struct cloop_container_options o, *n = NULL;

	(void)state;
	cloop_container_options_init(&o);
	assert_int_equal(cloop_container_options_normalize(&o, &n, err), 0);
	assert_string_equal(n->id, CLOOP_CONTAINER_DEFAULT_ID);
	assert_string_equal(n->image, CLOOP_CONTAINER_DEFAULT_IMAGE);
	assert_string_equal(n->network, CLOOP_NETWORK_NONE);
	assert_string_equal(n->runtime, "");
	assert_int_equal(n->pids_limit, 1024);
	assert_int_equal(n->orphan_grace_period_seconds, CLOOP_CONTAINER_DEFAULT_ORPHAN_GRACE_SEC);
	assert_int_equal(n->start_timeout_seconds, 120);
	assert_int_equal(n->stop_grace_seconds, 10);
	assert_int_equal(n->log_max_mb, 64);
	assert_true(n->protect_project_files);
	assert_null(n->home);
	cloop_container_options_free(n);
	/* And the caller's are as they were. */
	assert_null(o.id);
	assert_int_equal(o.pids_limit, 0);
}

static void test_a_copy_is_what_was_given(void **state)
{
	static const char *const hosts[] = {"a:10.0.0.1", "b:[::1]", NULL};
	static const char *const extra[] = {"--dns=10.0.0.1", NULL};
	static const char *const registries[] = {"Quay.io", "*.example.org", NULL};
	static const struct cloop_image_signer signer = {
		.issuer = "https://a.example", .subject_regexp = "^https://b\\.example/c$"};
	static const uint32_t groups[] = {7, 8};
	struct cloop_container_options o, *n = NULL, *again = NULL;

	(void)state;
	cloop_container_options_init(&o);
	o.network = CLOOP_NETWORK_BRIDGE;
	o.allow_hosts = hosts;
	o.extra_args = extra;
	o.group_add = groups;
	o.n_group_add = 2;
	o.stop_grace_seconds = 0;
	o.home = "/var/lib/x";
	o.image_policy.allowed_registries = registries;
	o.image_policy.require_signature = true;
	o.image_policy.cosign_identities = &signer;
	o.image_policy.n_cosign_identities = 1;
	assert_int_equal(cloop_container_options_normalize(&o, &n, err), 0);
	/* Normal form is normal. */
	assert_int_equal(cloop_container_options_normalize(n, &again, err), 0);
	cloop_container_options_free(n);
	assert_string_equal(again->allow_hosts[1], hosts[1]);
	assert_null(again->allow_hosts[2]);
	assert_string_equal(again->extra_args[0], extra[0]);
	assert_int_equal(again->group_add[1], 8);
	assert_int_equal(again->stop_grace_seconds, 0);
	assert_string_equal(again->home, "/var/lib/x");
	assert_string_equal(again->image_policy.allowed_registries[0], "quay.io");
	assert_string_equal(
		again->image_policy.cosign_identities[0].subject_regexp, signer.subject_regexp);
	cloop_container_options_free(again);
}

static void test_refusals_in_order(void **state)
{
	static const char *const hosts[] = {"no address", NULL};
	static const char *const cidrs[] = {"10.0.0.0/99", NULL};
	static const char *const many[] = {"-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-",
		"-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", "-",
		"-", "-", "-", "-", "-", NULL};
	struct cloop_container_options o, *n = NULL;

	(void)state;
	cloop_container_options_init(&o);
	o.home = "relative";
	assert_fails(cloop_container_options_normalize(&o, &n, err), "option_invalid");
	o.image_policy.allowed_registries = hosts;
	assert_fails(cloop_container_options_normalize(&o, &n, err), "sandbox_image_denied");
	o.log_max_mb = INT64_MIN;
	assert_fails(cloop_container_options_normalize(&o, &n, err), "option_out_of_range");
	o.log_max_mb = 4097;
	assert_fails(cloop_container_options_normalize(&o, &n, err), "option_out_of_range");
	o.extra_args = many;
	assert_fails(cloop_container_options_normalize(&o, &n, err), "extra_args_too_many");
	o.allow_hosts = hosts;
	assert_fails(cloop_container_options_normalize(&o, &n, err), "allow_hosts_without_network");
	o.network = "bridge";
	assert_fails(cloop_container_options_normalize(&o, &n, err), "add_host_invalid");
	o.egress_filter.allow_cidrs = cidrs;
	assert_fails(cloop_container_options_normalize(&o, &n, err), "add_host_invalid");
	o.egress_filter.enabled = true;
	assert_int_equal(cloop_container_options_normalize(&o, &n, err), -1);
	assert_true(strncmp(cloop_error_code(err), "egress_", 7) == 0);
	o.network = "none";
	assert_fails(cloop_container_options_normalize(&o, &n, err), "egress_filter_network_none");
	o.id = "-";
	assert_fails(cloop_container_options_normalize(&o, &n, err), "executor_id_invalid");
}

static void test_words(void **state)
{
	static const char *const good[] = {"--dns=1.1.1.1", "--tz=UTC", NULL};
	static const char *const bad[] = {"--privileged", NULL};

	(void)state;
	assert_int_equal(cloop_container_validate_extra_args(good, err), 0);
	assert_int_equal(cloop_container_validate_extra_args(NULL, err), 0);
	assert_fails(cloop_container_validate_extra_args(bad, err), "extra_arg_not_allowed");
	assert_int_equal(cloop_container_validate_image_ref("quay.io/a/b:1", err), 0);
	assert_int_equal(cloop_container_validate_image_ref("-a", err), -1);
	assert_int_equal(cloop_container_validate_image_ref(NULL, err), -1);
	assert_int_equal(cloop_container_validate_network("", err), 0);
	assert_fails(cloop_container_validate_network("host", err), "network_host");
	assert_int_equal(cloop_container_validate_non_root_user("1000:1000", err), 0);
	assert_fails(cloop_container_validate_non_root_user(NULL, err), "user_missing");
	assert_fails(cloop_container_validate_non_root_user("0:0", err), "root_user");
	assert_int_equal(cloop_container_validate_oci_runtime("", err), 0);
	assert_fails(cloop_container_validate_oci_runtime("/bin/sh", err), "oci_runtime_path");
}

static void test_names(void **state)
{
	char name[CLOOP_CONTAINER_NAME_SIZE];
	struct cloop_runtime podman = {.name = "podman", .path = "/x", .rootless = true};
	struct cloop_runtime docker = {.name = "docker", .path = "/x", .rootless = true};

	(void)state;
	cloop_container_name("/home/me/My Project/", "c-0123456789ab", name);
	assert_string_equal(name, "cloop-my-project-0123456789ab");
	cloop_container_name(NULL, NULL, name);
	assert_string_equal(name, "cloop-project-run");
	assert_string_equal(cloop_runtime_string(&podman), "podman (rootless)");
	assert_string_equal(cloop_runtime_string(&docker), "docker");
	assert_string_equal(cloop_runtime_string(NULL), "<none>");
	assert_true(cloop_oci_runtime_is_virtualized(" Kata-QEMU "));
	assert_false(cloop_oci_runtime_is_virtualized("runsc"));
	assert_true(cloop_oci_runtime_is_kernel_isolated("runsc"));
	assert_false(cloop_oci_runtime_is_kernel_isolated(NULL));
}

static void test_filters(void **state)
{
	static const char *const cidrs[] = {"10.1.0.0/16", NULL};
	static const char *const ports[] = {"443", NULL};
	struct cloop_egress_filter f;
	struct cloop_egress_policy *policy = NULL;
	char *text = NULL;

	(void)state;
	cloop_egress_filter_init(&f);
	f.allow_cidrs = cidrs;
	f.allow_ports = ports;
	assert_int_equal(cloop_egress_filter_validate(&f, err), 0);
	assert_fails(cloop_egress_filter_policy(&f, &policy, err), "egress_filter_disabled");
	assert_int_equal(cloop_egress_filter_compile(&f, &policy, err), 0);
	assert_string_equal(cloop_egress_policy_mode(policy), "filtered");
	assert_int_equal(cloop_egress_policy_nft(policy, "cloop_x", "br0", &text, err), 0);
	assert_non_null(strstr(text, "10.1.0.0/16"));
	cloop_string_free(text);
	assert_fails(cloop_egress_policy_nft(policy, "a b", "br0", &text, err), "nft_name_invalid");
	char **warnings = cloop_egress_policy_warnings(policy);
	assert_non_null(warnings);
	cloop_strings_free(warnings);
	cloop_egress_policy_free(policy);
}

/* The message of a filter at fault: names the key and the value; who applies it says so. */
static void test_filters_at_fault(void **state)
{
	static const char *const cidrs[] = {"10.1.0.0/16", "x", NULL};
	static const char *const ports[] = {"443", NULL};
	static const char at[] = "allow_cidrs[1]: \"x\" is no range";
	static const char applied[] = "container: allow_cidrs[1]: \"x\" is no range";
	struct cloop_egress_filter f;
	struct cloop_egress_policy *policy = NULL;

	(void)state;
	cloop_egress_filter_init(&f);
	f.enabled = true;
	assert_fails(cloop_egress_filter_validate(&f, err), "egress_filter_empty");
	f.allow_ports = ports;
	f.allow_cidrs = cidrs;
	assert_int_equal(cloop_egress_filter_compile(&f, &policy, err), -1);
	assert_memory_equal(cloop_error_message(err), at, strlen(at));
	assert_int_equal(cloop_egress_filter_policy(&f, &policy, err), -1);
	assert_memory_equal(cloop_error_message(err), applied, strlen(applied));
	assert_int_equal(cloop_egress_filter_validate(&f, err), -1);
	assert_memory_equal(cloop_error_message(err), applied, strlen(applied));
}

static int make(void **state)
{
	(void)state;
	err = cloop_error_new();
	return 0;
}

static int drop(void **state)
{
	(void)state;
	cloop_error_free(err);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_a_copy_is_what_was_given),
		cmocka_unit_test(test_refusals_in_order),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_filters_at_fault),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
