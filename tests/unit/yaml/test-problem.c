#include "unit/unit.h"

#include "base/mem.h"
#include "yaml/problem.h"

static void add(struct problems *ps, unsigned line, unsigned column, const char *path)
{
	problems_add(ps, PROBLEM_EMPTY, (struct position){line, column}, path, "m");
}

static void sorted_by_place_then_order(void **state)
{
	AUTO(problems) ps = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);

	(void)state;
	add(&ps, 2, 1, "c");
	add(&ps, 1, 9, "b1");
	add(&ps, 1, 9, "b2");
	add(&ps, 1, 2, "a");
	add(&ps, 0, 0, "none");
	problems_finish(&ps);
	const char *const wanted[] = {"none", "a", "b1", "b2", "c"};
	assert_int_equal(ps.n, 5);
	for (size_t i = 0; i < ps.n; i++)
		assert_string_equal(ps.v[i].path, wanted[i]);
}

static void exactly_the_maximum_is_no_overflow(void **state)
{
	AUTO(problems) ps = PROBLEMS_INIT(3);

	(void)state;
	for (unsigned i = 1; i <= 3; i++)
		add(&ps, i, 1, "p");
	problems_finish(&ps);
	assert_int_equal(ps.n, 3);
	assert_false(problems_has(&ps, PROBLEM_TOO_MANY_ERRORS));
}

/* Added backwards, so that every one displaces another. */
static void the_first_ones_in_file_order_are_kept(void **state)
{
	enum { ADDED = 5000 };
	AUTO(problems) ps = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);

	(void)state;
	for (unsigned i = ADDED; i > 0; i--)
		add(&ps, i, 1, "p");
	problems_finish(&ps);
	assert_int_equal(ps.total, ADDED);
	assert_int_equal(ps.n, PROBLEMS_ERRORS_MAX + 1);
	for (unsigned i = 0; i < PROBLEMS_ERRORS_MAX; i++)
		assert_int_equal(ps.v[i].at.line, i + 1);
	assert_string_equal(ps.v[PROBLEMS_ERRORS_MAX].code, "too_many_errors");
	assert_string_equal(ps.v[PROBLEMS_ERRORS_MAX].path, "");
	assert_int_equal(ps.v[PROBLEMS_ERRORS_MAX].at.line, PROBLEMS_ERRORS_MAX + 1);
}

static void ties_beyond_the_maximum_keep_the_earlier(void **state)
{
	AUTO(problems) ps = PROBLEMS_INIT(2);

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		char path[8];
		snprintf(path, sizeof(path), "p%u", i);
		add(&ps, 1, 1, path);
	}
	problems_finish(&ps);
	assert_string_equal(ps.v[0].path, "p0");
	assert_string_equal(ps.v[1].path, "p1");
}

static void remedy_of_what_is_not_listed_changes_nothing(void **state)
{
	AUTO(problems) ps = PROBLEMS_INIT(1);

	(void)state;
	for (unsigned i = 1; i < 10; i++)
		add(&ps, i, 1, "p");
	assert_false(problems_wants(&ps, (struct position){9, 1}));
	problems_set_remedy(&ps, "wrong");
	problems_finish(&ps);
	for (size_t i = 0; i < ps.n; i++)
		assert_string_not_equal(ps.v[i].remedy, "wrong");
}

static void long_messages_are_cut_at_a_character(void **state)
{
	AUTO(problems) ps = PROBLEMS_INIT(1);
	AUTO(str) text = STR_INIT(4096);

	(void)state;
	str_add_char(&text, 'x');
	while (text.len < 2000)
		str_add_text(&text, "\xc3\xa9");
	problems_add(&ps, PROBLEM_EMPTY, POSITION_NONE, "", "%s", str_text(&text));
	assert_int_equal(strlen(ps.v[0].message), PROBLEM_TEXT_MAX - 1);
	assert_true(utf8_valid(text_of(ps.v[0].message)));
}

static void summary_names_the_first_and_counts_the_rest(void **state)
{
	AUTO(problems) ps = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(str) out = STR_INIT(200);

	(void)state;
	problems_add(&ps, PROBLEM_EMPTY, (struct position){3, 7}, "a.b", "is %s", "odd");
	problems_summary(&ps, "f.yaml", &out);
	assert_string_equal(str_text(&out), "f.yaml:3:7: a.b: is odd");
	add(&ps, 9, 9, "c");
	str_reset(&out);
	problems_summary(&ps, "f.yaml", &out);
	assert_string_equal(str_text(&out), "f.yaml:3:7: a.b: is odd (and 1 more error)");
	out.max = 40;
	str_reset(&out);
	problems_summary(&ps, "f.yaml", &out);
	assert_string_equal(str_text(&out), "f.yaml:3:7: a.b: is o (and 1 more error)");
}

static void move_keeps_everything(void **state)
{
	AUTO(problems) a = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) b = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);

	(void)state;
	add(&a, 2, 1, "a");
	add(&b, 1, 1, "b");
	problems_move(&a, &b);
	problems_finish(&a);
	assert_int_equal(a.n, 2);
	assert_int_equal(b.n, 0);
	assert_string_equal(a.v[0].path, "b");
	assert_string_equal(a.v[0].message, "m");
}

static void every_code_has_text_and_no_two_share_a_name_by_mistake(void **state)
{
	(void)state;
	for (int i = PROBLEM_NONE + 1; i < PROBLEM_CODE_COUNT; i++)
		assert_true(text_all_word(text_of(problem_code_text(i)), "_") &&
			    problem_code_text(i)[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted_by_place_then_order),
		cmocka_unit_test(exactly_the_maximum_is_no_overflow),
		cmocka_unit_test(the_first_ones_in_file_order_are_kept),
		cmocka_unit_test(ties_beyond_the_maximum_keep_the_earlier),
		cmocka_unit_test(remedy_of_what_is_not_listed_changes_nothing),
		cmocka_unit_test(long_messages_are_cut_at_a_character),
		cmocka_unit_test(summary_names_the_first_and_counts_the_rest),
		cmocka_unit_test(move_keeps_everything),
		cmocka_unit_test(every_code_has_text_and_no_two_share_a_name_by_mistake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
