#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cli/verbs.h"

enum { SUMMARY_MAX = 56 };

static bool plain_word(const char *word)
{
	return word[0] && ascii_lower(word[0]) && text_all_word(text_of(word), "-");
}

static void test_rows_are_complete(void **state)
{
	(void)state;
	for (const struct verb *const *v = verbs; *v; v++) {
		assert_true(plain_word((*v)->name));
		assert_non_null((*v)->run);
		assert_in_range(strlen((*v)->summary), 1, SUMMARY_MAX);
		assert_true((*v)->min_args <= (*v)->max_args);
		assert_true((*v)->max_args == 0 || (*v)->args);
		assert_ptr_equal(verbs_find((*v)->group, (*v)->name), *v);
		if ((*v)->group) {
			assert_true(plain_word((*v)->group));
			assert_true(verbs_group_summary((*v)->group)[0] != '\0');
			/* A word is a group or a command, never both. */
			assert_null(verbs_find(NULL, (*v)->group));
		}
	}
}

static void test_options_are_long_and_unique(void **state)
{
	(void)state;
	for (const struct verb *const *v = verbs; *v; v++) {
		for (const struct option *o = (*v)->options; o && o->name; o++) {
			assert_true(text_starts(text_of(o->name), "--"));
			assert_true(plain_word(o->name + 2));
			assert_true(o->help && o->help[0]);
			assert_true(o->value || (!o->choices && !o->repeat));
			/* The first of that name is this one, and no common one is hidden. */
			assert_ptr_equal(verbs_option(*v, o->name, strlen(o->name)), o);
			assert_null(verbs_option(NULL, o->name, strlen(o->name)));
		}
	}
}

/* Rows of a group stand together: help and completion walk them in order. */
static void test_groups_stand_together(void **state)
{
	(void)state;
	for (size_t i = 0; verbs[i]; i++)
		for (size_t k = i + 2; verbs[i]->group && verbs[k]; k++)
			if (verbs[k]->group && strcmp(verbs[i]->group, verbs[k]->group) == 0)
				assert_string_equal(verbs[k - 1]->group, verbs[k]->group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_complete),
		cmocka_unit_test(test_options_are_long_and_unique),
		cmocka_unit_test(test_groups_stand_together),
	};

	return cmocka_run_group_tests_name("cli/verbs", tests, NULL, NULL);
}
