/* Payloads as they are minted, and what a grant narrows of them. */
#include "unit/unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "vault/device-payload.h"
#include "vault/interface-payload.h"
#include "vault/payload-reason.h"
#include "vault/payload.h"

static void expect(enum secret_kind kind, const char *payload, const char *reason)
{
	auto_error struct error err = ERROR_INIT;
	struct payload_options o = {.name = TEXT("s")};
	int r = payload_check(kind, &o, text_of(payload), &err);
	const char *got = json_get_string(err.details, "reason");

	if ((r == 0) != (reason == NULL) || (reason && (!got || strcmp(got, reason) != 0)) ||
		(reason && !strstr(err.message, payload_reason_words(reason))))
		fail_msg("%s %s: %s", secret_kind_text(kind), payload, r < 0 ? err.message : "ok");
}

/* Whatever refuses it, the message is in words. */
static void test_words(void **state)
{
	(void)state;
	static const struct {
		enum secret_kind kind;
		const char *payload, *message;
	} cases[] = {
		{SECRET_ENV, "", "the payload: there is nothing in it"},
		{SECRET_HOST_DEVICE, "a=/dev/x\nb=/dev/mem",
			"line 2 of the payload: this one is never given"},
		{SECRET_HOST_INTERFACE, "a=e,mtu=1",
			"line 1 of the payload: an mtu is a number from 68 to 65536"},
		{SECRET_REGISTRY, "u:p\n",
			"the payload: it holds a control character; a line break at its end is one "
			"(use printf)"},
		{SECRET_KUBECONFIG, "users:\n- name: a\n  user:\n    exec: {a: b}\ncontexts: []",
			"line 4 of the payload: exec starts a program, which is not carried into a "
			"sandbox"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_error struct error err = ERROR_INIT;
		struct payload_options o = {.name = TEXT("s")};
		assert_int_equal(
			payload_check(cases[i].kind, &o, text_of(cases[i].payload), &err), -1);
		assert_string_equal(err.message, cases[i].message);
	}
}

static void test_check(void **state)
{
	(void)state;
	for (int kind = 0; kind < SECRET_KIND_COUNT; kind++)
		expect((enum secret_kind)kind, "", "empty");
	expect(SECRET_ENV, "v", NULL);
	expect(SECRET_FILE, "v", NULL);
	expect(SECRET_HOST_DEVICE, "a=/dev/x", NULL);
	expect(SECRET_HOST_DEVICE, "a=/dev/mem", "forbidden");
	expect(SECRET_HOST_INTERFACE, "a=eth1", NULL);
	expect(SECRET_HOST_INTERFACE, "a=lo", "forbidden");
	expect(SECRET_LOCAL_REPO, "/srv/git", NULL);
	expect(SECRET_LOCAL_REPO, "/srv/../git/", NULL);
	expect(SECRET_LOCAL_REPO, "/", "path");
	expect(SECRET_LOCAL_REPO, "srv", "path");
	expect(SECRET_LOCAL_REPO, "/srv/git\n", "path");
	expect(SECRET_LOCAL_REPO, "/srv:x", "path");
	expect(SECRET_LOCAL_REPO, "/srv\\x", "path");
	expect(SECRET_REGISTRY, "u:p", NULL);
	expect(SECRET_REGISTRY, "up", "syntax");
	expect(SECRET_REGISTRY, "u:p\n", "control");
	expect(SECRET_REGISTRY, "{\"auths\":{}}", NULL);
	expect(SECRET_REGISTRY, "{}", "auths");
	expect(SECRET_REGISTRY, "{", "json");
	expect(SECRET_KUBECONFIG, "contexts: []", NULL);
	expect(SECRET_KUBECONFIG, "a: b", "contexts");
}

static void test_size(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_free char *big = mem_alloc(PAYLOAD_MAX + 1);
	struct payload_options o = {.name = TEXT("s")};

	memset(big, 'x', PAYLOAD_MAX + 1);
	assert_done(payload_check(SECRET_FILE, &o, (struct text){big, PAYLOAD_MAX}, &err), &err);
	assert_int_equal(
		payload_check(SECRET_FILE, &o, (struct text){big, PAYLOAD_MAX + 1}, &err), -1);
	assert_string_equal(json_get_string(err.details, "reason"), "too_large");
}

static void test_options(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	struct payload_options o = {.name = TEXT("s"), .file_mode = 0644};

	assert_int_equal(payload_check(SECRET_FILE, &o, TEXT("v"), &err), -1);
	assert_int_equal(err.code, ERROR_SECRET_MODE_INVALID);
	o = (struct payload_options){.name = TEXT("s"), .file_name = TEXT("a/b")};
	assert_int_equal(payload_check(SECRET_FILE, &o, TEXT("v"), &err), -1);
	assert_int_equal(err.code, ERROR_SECRET_NAME_INVALID);
	o = (struct payload_options){.name = TEXT("s"), .env_name = TEXT("1")};
	assert_int_equal(payload_check(SECRET_ENV, &o, TEXT("v"), &err), -1);
	assert_string_equal(json_get_string(err.details, "reason"), "name");
	o = (struct payload_options){.name = TEXT("s"), .env_format = ENV_FORMAT_OBJECT};
	assert_int_equal(payload_check(SECRET_ENV, &o, TEXT("v"), &err), -1);
	assert_string_equal(json_get_string(err.details, "reason"), "object");
	/* Nothing of a payload is in the message of what refuses it. */
	assert_int_equal(payload_check(SECRET_HOST_DEVICE, &o, TEXT("s3cret"), &err), -1);
	assert_null(strstr(err.message, "s3cret"));
	assert_int_equal(payload_check(SECRET_KUBECONFIG, &o, TEXT("s3cret: [\n"), &err), -1);
	assert_null(strstr(err.message, "s3cret"));
}

static void test_select(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	AUTO(device_payload) d = {.v = NULL};
	AUTO(interface_payload) i = {.v = NULL};
	AUTO(env_payload) e = {.v = NULL};
	AUTO(strv) names = STRV_INIT(3);
	AUTO(strv) others = STRV_INIT(1);

	strv_add(&names, "c");
	strv_add(&names, "a");
	strv_add(&others, "x");
	assert_done(
		device_payload_read(TEXT("a=/dev/a:rwm\nb=/dev/b\nc=/dev/c:rw\n"), &d, &err), &err);
	assert_done(device_payload_select(&d, &names, &err), &err);
	auto_free char *devices = device_payload_names(&d);
	assert_string_equal(devices, "a,c");
	assert_string_equal(device_payload_mode(&d.v[0], true), "rwm");
	assert_string_equal(device_payload_mode(&d.v[0], false), "r");
	assert_string_equal(device_payload_mode(&d.v[1], true), "rw");
	assert_int_equal(device_payload_select(&d, &others, &err), -1);
	assert_int_equal(err.code, ERROR_DEVICE_NONE);
	error_clear(&err);
	assert_done(interface_payload_read(TEXT("a=e1\nb=e2\nc=e3\n"), &i, &err), &err);
	assert_done(interface_payload_select(&i, &names, &err), &err);
	auto_free char *interfaces = interface_payload_names(&i);
	assert_string_equal(interfaces, "a,c");
	assert_int_equal(interface_payload_select(&i, &others, &err), -1);
	assert_int_equal(err.code, ERROR_GRANT_CONSTRAINT_INVALID);
	error_clear(&err);
	struct env_payload_options o = {.secret = TEXT("s")};
	assert_done(env_payload_read(&o, TEXT("{\"A\":\"1\",\"x\":\"2\"}"), &e, &err), &err);
	env_payload_select(&e, &others);
	assert_int_equal(e.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_select),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
