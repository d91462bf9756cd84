#include "unit/unit.h"

#include <string.h>

#include "base/secret.h"

static void test_concat(void **state)
{
	(void)state;
	AUTO(secret) s = {.p = NULL};

	SECRET_CONCAT(&s, TEXT("user"), TEXT(""), (struct text){NULL, 0}, TEXT(":"), TEXT("a\0b"));
	assert_int_equal(s.len, 8);
	assert_memory_equal(s.p, "user:a\0b", 9);
	assert_ptr_equal(secret_text(&s).p, s.p);
	secret_done(&s);
	assert_null(s.p);
	assert_int_equal(s.len, 0);
	SECRET_CONCAT(&s, TEXT(""));
	assert_int_equal(s.len, 0);
	assert_string_equal(s.p, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_concat)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
