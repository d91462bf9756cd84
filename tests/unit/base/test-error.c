#include "unit/unit.h"

#include <errno.h>

#include "base/json.h"
#include "base/mem.h"

static const char *const names[] = {
#define ERROR(id, text, http, exit, remedy) #id,
#include "base/error-list.h"
#undef ERROR
};

static bool code_grammar(const char *s)
{
	for (const char *p = s; *p; p++)
		if (!ascii_lower(*p) && !ascii_digit(*p) && *p != '_')
			return false;
	return ascii_lower(s[0]);
}

static void test_every_code(void **state)
{
	(void)state;
	for (int c = 1; c < ERROR_CODE_COUNT; c++) {
		enum error_code code = (enum error_code)c;
		auto_error struct error err = ERROR_INIT;
		const char *text = error_code_text(code);
		int http = error_code_http(code), status = error_code_run_exit(code);
		error_set(&err, code, "x");
		if (!code_grammar(text))
			fail_msg("%s: code \"%s\"", names[c - 1], text);
		if (error_remedy(&err)[0] == '\0' || text_has_control(text_of(error_remedy(&err))))
			fail_msg("%s: remedy", text);
		if (http < 400 || http > 599 || status < 122 || status > 127)
			fail_msg("%s: HTTP %d, exit %d", text, http, status);
		if (strlen(error_remedy(&err)) > ERROR_TEXT_MAX)
			fail_msg("%s: remedy is longer than what can be kept", text);
		for (int other = 1; other < c; other++)
			if (strcmp(text, error_code_text((enum error_code)other)) == 0)
				fail_msg("%s: twice", text);
		assert_int_equal(error_code_from_text(text_of(text)), code);
	}
	assert_int_equal(error_code_from_text(TEXT("none")), ERROR_NONE);
	assert_int_equal(error_code_from_text(TEXT("no_such_code")), ERROR_NONE);
	assert_int_equal(error_code_from_text(TEXT("")), ERROR_NONE);
}

static void test_set(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_error struct error to = ERROR_INIT;

	assert_int_equal(error_set(&err, ERROR_USAGE, "no %s", "verb"), -1);
	assert_int_equal(error_set_remedy(&err, "say %d", 1), -1);
	assert_int_equal(error_add_detail(&err, "rule", json_string("r")), -1);
	assert_int_equal(error_prefix(&err, "line %d", 3), -1);
	assert_string_equal(err.message, "line 3: no verb");
	assert_string_equal(error_remedy(&err), "say 1");
	error_set(&to, ERROR_IO, "old");
	error_add_detail(&to, "x", json_true());
	error_move(&to, &err);
	assert_true(error_is(&to, ERROR_USAGE) && error_is(&err, ERROR_NONE));
	assert_non_null(to.details);
	assert_null(err.details);
	/* Set anew: what belonged to the old error is gone. A message may be made of the old one.
	 */
	error_set(&to, ERROR_IO, "again: %s", to.message);
	assert_string_equal(to.message, "again: line 3: no verb");
	assert_null(to.details);
	assert_string_not_equal(error_remedy(&to), "say 1");
	error_set_errno(&to, ERROR_IO, ENOENT, "cannot open %s", "x");
	assert_string_equal(to.message, "cannot open x: No such file or directory");
	error_clear(&to);
	assert_true(error_is(&to, ERROR_NONE));
}

static void test_bounds(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;
	auto_free char *text = mem_alloc(5001);

	for (size_t i = 0; i < 5000; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	error_set(&err, ERROR_IO, "x%s", text);
	assert_int_equal(strlen(err.message), ERROR_TEXT_MAX - 1);
	assert_true(utf8_valid(text_of(err.message)));
	error_set_remedy(&err, "%s", text);
	assert_int_equal(strlen(err.remedy), ERROR_TEXT_MAX);
	for (int i = 0; i < 10; i++)
		error_prefix(&err, "%s", "prefix");
	assert_true(strlen(err.message) <= ERROR_TEXT_MAX);
	assert_int_equal(strncmp(err.message, "prefix: prefix: ", 16), 0);
}

static void test_envelope(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_NO_PLACEMENT, "nothing fits");
	error_add_detail(&err, "rejections", json_pack("[s]", "x"));
	auto_json *envelope = error_to_json(&err);
	auto_free char *text = json_write(envelope);
	auto_free char *expected =
		mem_printf("{\"error\":\"nothing fits\",\"code\":\"no_placement\",\"status\":409,"
			   "\"remediation\":\"%s\",\"rejections\":[\"x\"]}",
			error_remedy(&err));
	assert_string_equal(text, expected);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (int c = 1; c < ERROR_CODE_COUNT; c++) {
		auto_error struct error err = ERROR_INIT;
		auto_error struct error back = ERROR_INIT;
		error_set(&err, (enum error_code)c, "m \"%d\"\n", c);
		if (c % 2 == 0)
			error_set_remedy(&err, "r %d", c);
		error_add_detail(&err, "names", json_pack("[i]", c));
		auto_json *envelope = error_to_json(&err);
		error_from_json(&back, envelope);
		auto_json *again = error_to_json(&back);
		assert_int_equal(back.code, c);
		assert_string_equal(error_remedy(&back), error_remedy(&err));
		assert_true(json_equal(
			json_object_get(envelope, "names"), json_object_get(again, "names")));
		assert_int_equal(json_object_size(again), 5);
	}
}

/* Bytes of a path that are no UTF-8 do not cost the envelope. */
static void test_not_utf8(void **state)
{
	(void)state;
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_IO, "cannot open a\xff\x01");
	auto_json *envelope = error_to_json(&err);
	assert_string_equal(json_get_string(envelope, "error"), "cannot open a\\xff\\x01");
}

static void test_foreign_envelope(void **state)
{
	(void)state;
	static const char *const texts[] = {"null", "[]", "7", "{}", "{\"code\":7,\"error\":[]}",
		"{\"code\":\"none\"}", "{\"code\":\"never_heard_of\"}"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_error struct error err = ERROR_INIT;
		auto_error struct error ignored = ERROR_INIT;
		auto_json *envelope = json_read(text_of(texts[i]), 1000, "x", ERROR_IO, &ignored);
		assert_non_null(envelope);
		error_from_json(&err, envelope);
		assert_true(error_is(&err, ERROR_INTERNAL));
		assert_true(error_remedy(&err)[0] != '\0');
	}
	auto_error struct error err = ERROR_INIT;
	error_from_json(&err, NULL);
	assert_true(error_is(&err, ERROR_INTERNAL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_code),
		cmocka_unit_test(test_set), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_envelope), cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_not_utf8), cmocka_unit_test(test_foreign_envelope)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
