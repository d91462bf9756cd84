#include "unit/unit.h"

#include "base/base64.h"

/* RFC 4648 §10, and a byte of every kind. */
static void test_vectors(void **state)
{
	static const struct {
		struct text bytes;
		const char *want;
	} rows[] = {
		{{"", 0}, ""},
		{{"f", 1}, "Zg=="},
		{{"fo", 2}, "Zm8="},
		{{"foo", 3}, "Zm9v"},
		{{"foob", 4}, "Zm9vYg=="},
		{{"fooba", 5}, "Zm9vYmE="},
		{{"foobar", 6}, "Zm9vYmFy"},
		{{"\xff\xfe\x00", 3}, "//4A"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct secret got;
		base64_encode(rows[i].bytes, &got);
		assert_string_equal(got.p, rows[i].want);
		assert_int_equal(got.len, strlen(rows[i].want));
		struct secret back;
		assert_true(base64_decode(secret_text(&got), &back));
		assert_int_equal(back.len, rows[i].bytes.len);
		assert_memory_equal(back.p, rows[i].bytes.p, back.len);
		secret_done(&got);
		secret_done(&back);
	}
}

static void test_what_is_none(void **state)
{
	static const char *const texts[] = {"Z", "Zg",
		"Zg=", "Zg===", "====", "=g==", "Z===", "Zg==Zg==", "Zm=v", "Zm8=Zm9v", "Zm9*",
		"Zm9v\n", "Zm9v\nZm9", " Zg=", "Zm_v", "Zm-v", "\xc3\xa9==", "Zg==\n\n\n\n"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct secret got;
		assert_false(base64_decode(text_of(texts[i]), &got));
		secret_done(&got);
	}
}

/* Engines take them, so a login in such a file works with the engine. */
static void test_bits_that_stand_for_nothing(void **state)
{
	struct secret got;

	(void)state;
	assert_true(base64_decode(TEXT("Zh=="), &got));
	assert_int_equal(got.len, 1);
	assert_string_equal(got.p, "f");
	secret_done(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_bits_that_stand_for_nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
