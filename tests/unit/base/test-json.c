#include "unit/unit.h"

#include "base/enum-text.h"
#include "base/hash.h"
#include "base/json.h"

static void test_read(void **state)
{
	(void)state;
	static const struct {
		struct text text;
		bool ok;
	} rows[] = {
		{TEXT("{}"), true},
		{TEXT(" [1, \"a\\u0000b\"] \n"), true},
		{TEXT("7"), true},
		{TEXT(""), false},
		{TEXT("{} {}"), false},
		{TEXT("{}x"), false},
		{TEXT("{\"a\":1,\"a\":2}"), false},
		{TEXT("{'a':1}"), false},
		{TEXT("[1,]"), false},
		{TEXT("\"\xff\""), false},
		{TEXT("{}\0"), false},
		{TEXT("[\x01]"), false},
		{TEXT("[\x1b[2J]"), false},
		{TEXT("[\"\xc2\x9b\" 7]"), false},
		{TEXT("12345678901"), false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_error struct error err = ERROR_INIT;
		size_t max = rows[i].text.len == 11 ? 10 : 100;
		auto_json *value = json_read(rows[i].text, max, "the record", ERROR_IO, &err);
		if ((value != NULL) != rows[i].ok)
			fail_msg("row %zu", i);
		if (!value)
			assert_int_equal(strncmp(err.message, "the record", 10), 0);
		assert_false(text_has_control(text_of(err.message)));
		assert_null(strstr(err.message, "\xc2\x9b"));
	}
	auto_error struct error err = ERROR_INIT;
	auto_json *none = json_read((struct text){NULL, 0}, 10, "x", ERROR_IO, &err);
	assert_null(none);
}

static void test_members(void **state)
{
	(void)state;
	auto_json *o = json_pack(
		"{s:s%, s:i, s:b, s:n}", "text", "a\0b", (size_t)3, "int", 5, "bool", 1, "null");

	assert_true(text_equal(json_get_text(o, "text"), TEXT("a\0b")));
	assert_null(json_get_text(o, "int").p);
	assert_null(json_get_string(o, "none"));
	assert_string_equal(json_get_string(o, "text"), "a");
	assert_int_equal(json_get_int(o, "int", 1), 5);
	assert_int_equal(json_get_int(o, "bool", 1), 1);
	assert_true(json_get_bool(o, "bool", false));
	assert_true(json_get_bool(o, "int", true));
	assert_false(json_get_bool(o, "null", false));
	assert_int_equal(json_get_int(NULL, "x", 9), 9);
}

static void test_write(void **state)
{
	(void)state;
	auto_json *o = json_pack("{s:i, s:[i]}", "b", 1, "a", 2);
	auto_free char *line = json_write(o);
	auto_free char *nothing = json_write(NULL);

	assert_string_equal(line, "{\"b\":1,\"a\":[2]}");
	assert_string_equal(nothing, "null");
}

static void test_from(void **state)
{
	(void)state;
	auto_json *utf8 = json_from_bytes(TEXT("a\0\xc3\xa4"));
	auto_json *bytes = json_from_bytes(TEXT("a\xff"));
	auto_json *nothing = json_from_bytes((struct text){NULL, 0});
	auto_json *null = json_from_string(NULL);
	auto_json *list = json_from_strings((char *const[]){"a", "b"}, 2);
	auto_free char *written = json_write(list);

	assert_true(text_equal(json_text(utf8), TEXT("a\0\xc3\xa4")));
	assert_true(text_equal(json_text(bytes), TEXT("a\\xff")));
	assert_true(json_is_string(nothing) && json_is_null(null));
	assert_string_equal(written, "[\"a\",\"b\"]");
}

static void test_hash(void **state)
{
	(void)state;
	char out[SHA256_HEX_SIZE];

	sha256_hex(TEXT(""), out);
	assert_string_equal(
		out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex(TEXT("abc"), out);
	assert_string_equal(
		out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

enum fruit { APPLE, PEAR, FRUITS };
const char *fruit_text(enum fruit value);
int fruit_from_text(struct text t);
static const char *const fruits[] = {[APPLE] = "apple", [PEAR] = "pear"};
ENUM_TEXT(fruit, fruits, FRUITS)

static void test_enum_text(void **state)
{
	(void)state;
	for (int i = 0; i < FRUITS; i++)
		assert_int_equal(fruit_from_text(text_of(fruit_text((enum fruit)i))), i);
	assert_int_equal(fruit_from_text(TEXT("Apple")), -1);
	assert_int_equal(fruit_from_text(TEXT("")), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_read),
		cmocka_unit_test(test_members), cmocka_unit_test(test_write),
		cmocka_unit_test(test_from), cmocka_unit_test(test_hash),
		cmocka_unit_test(test_enum_text)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
