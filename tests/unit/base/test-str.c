#include "unit/unit.h"

#include "base/mem.h"
#include "base/str.h"
#include "base/strv.h"

static void test_bounds(void **state)
{
	(void)state;
	for (size_t max = 0; max < 300; max += 7) {
		AUTO(str) s = STR_INIT(max);
		assert_string_equal(str_text(&s), "");
		for (size_t i = 0; i < max; i++)
			assert_int_equal(str_add_char(&s, 'x'), 0);
		assert_false(str_full(&s));
		assert_int_equal(str_add(&s, "", 0), 0);
		assert_int_equal(str_add_char(&s, 'y'), -1);
		assert_true(str_full(&s));
		assert_int_equal(s.len, max);
		assert_int_equal(strlen(str_text(&s)), max);
		str_reset(&s);
		assert_false(str_full(&s));
		assert_string_equal(str_text(&s), "");
	}
}

static void test_all_or_nothing(void **state)
{
	(void)state;
	AUTO(str) s = STR_INIT(5);

	assert_int_equal(str_add_text(&s, "abc"), 0);
	assert_int_equal(str_add_text(&s, "def"), -1);
	assert_int_equal(str_addf(&s, "%d", 123), -1);
	assert_string_equal(str_text(&s), "abc");
	assert_int_equal(str_addf(&s, "%d", 12), 0);
	assert_string_equal(str_text(&s), "abc12");
	assert_true(str_full(&s));
}

static void test_reserve(void **state)
{
	(void)state;
	AUTO(str) s = STR_INIT(100);
	AUTO(str) unbounded = STR_INIT(SIZE_MAX);

	char *room = str_reserve(&s, 100);
	assert_non_null(room);
	assert_string_equal(str_text(&s), "");
	memset(room, 'a', 3);
	s.len += 3;
	assert_null(str_reserve(&s, 98));
	assert_int_equal(s.len, 3);
	assert_null(str_reserve(&unbounded, SIZE_MAX));
	assert_int_equal(str_add_text(&unbounded, "x"), 0);
}

static void test_take(void **state)
{
	(void)state;
	AUTO(str) s = STR_INIT(10);

	auto_free char *nothing = str_take(&s);
	assert_string_equal(nothing, "");
	str_add(&s, "a\0b", 3);
	auto_free char *bytes = str_take(&s);
	assert_memory_equal(bytes, "a\0b", 4);
	assert_int_equal(s.len, 0);
	assert_int_equal(str_add_text(&s, "0123456789"), 0);
}

static void test_strv(void **state)
{
	(void)state;
	AUTO(strv) l = STRV_INIT(4);
	AUTO(strv) other = STRV_INIT(10);
	size_t seen = 0;

	assert_null(l.v);
	assert_int_equal(strv_add(&l, "b"), 0);
	assert_int_equal(strv_add_n(&l, "abc", 1), 0);
	assert_int_equal(strv_addf(&l, "%d", 7), 0);
	assert_int_equal(strv_take(&l, mem_strdup("x")), 0);
	assert_int_equal(strv_add(&l, "more"), -1);
	assert_int_equal(strv_take(&l, mem_strdup("more")), -1);
	assert_int_equal(l.n, 4);
	assert_null(l.v[4]);
	assert_true(strv_has(&l, "7") && !strv_has(&l, "more"));
	strv_sort(&l);
	auto_free char *joined = strv_join(&l, ", ");
	assert_string_equal(joined, "7, a, b, x");
	assert_int_equal(strv_add_all(&other, &l), 0);
	assert_int_equal(strv_add_all(&l, &other), -1);
	strv_foreach (item, &other)
		seen += strlen(*item);
	assert_int_equal(seen, 4);
	AUTO(strv) empty = STRV_INIT(0);
	auto_free char *none = strv_join(&empty, ",");
	assert_string_equal(none, "");
	assert_int_equal(strv_add(&empty, "x"), -1);
}

static void test_mem(void **state)
{
	(void)state;
	auto_free char *zero = mem_alloc(0);
	auto_free char *copy = mem_strndup("a\0b", 3);
	auto_free char *text = mem_printf("%s-%d", "x", 1);
	char *where = NULL;

	assert_non_null(zero);
	assert_memory_equal(copy, "a\0b", 4);
	assert_string_equal(text, "x-1");
	mem_set_string(&where, "first");
	mem_set_string(&where, where);
	assert_string_equal(where, "first");
	mem_set_string(&where, NULL);
	assert_null(where);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_all_or_nothing), cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_take), cmocka_unit_test(test_strv),
		cmocka_unit_test(test_mem)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
