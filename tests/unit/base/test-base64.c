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
		secret_done(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
