#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/completion.h"
#include "cli/verbs.h"

enum { TEXT_MAX = 1 << 20 };

static void test_every_shell_knows_every_command(void **state)
{
	struct text rest = TEXT(COMPLETION_SHELLS), shell;

	(void)state;
	while (text_split(&rest, ' ', &shell)) {
		AUTO(str) out = STR_INIT(TEXT_MAX);
		assert_int_equal(completion_script(&out, shell), 0);
		assert_false(str_full(&out));
		for (const struct verb *const *v = verbs; *v; v++) {
			bool found = text_has(text_of(str_text(&out)), (*v)->name);
			assert_true(found || (*v)->flags & VERB_HIDDEN);
		}
	}
}

static void test_unknown_shell(void **state)
{
	AUTO(str) out = STR_INIT(TEXT_MAX);

	(void)state;
	assert_int_equal(completion_script(&out, TEXT("ksh")), -1);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_shell_knows_every_command),
		cmocka_unit_test(test_unknown_shell),
	};

	return cmocka_run_group_tests_name("cli/completion", tests, NULL, NULL);
}
