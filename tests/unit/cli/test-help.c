#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/help.h"
#include "cli/man.h"
#include "cli/verbs.h"

enum { TEXT_MAX = 1 << 20, COLUMNS = 80 };

/* Characters, not bytes. */
static size_t width(struct text line)
{
	size_t columns = 0;

	for (size_t i = 0; i < line.len; i++)
		columns += ((unsigned char)line.p[i] & 0xc0) != 0x80;
	return columns;
}

static void assert_fits(const struct str *text)
{
	struct text rest = {str_text(text), text->len}, line;

	assert_false(str_full(text));
	while (text_split(&rest, '\n', &line)) {
		if (width(line) > COLUMNS)
			fail_msg("%zu columns: %.*s", width(line), (int)line.len, line.p);
		if (line.len > 0)
			assert_true(line.p[line.len - 1] != ' ');
	}
}

static void test_help_fits_80_columns(void **state)
{
	AUTO(str) out = STR_INIT(TEXT_MAX);

	(void)state;
	help_overview(&out);
	assert_fits(&out);
	for (const struct verb *const *v = verbs; *v; v++) {
		str_reset(&out);
		help_verb(&out, *v);
		assert_fits(&out);
		if (!(*v)->group)
			continue;
		str_reset(&out);
		help_group(&out, (*v)->group);
		assert_fits(&out);
	}
}

static void test_help_names_every_option(void **state)
{
	(void)state;
	for (const struct verb *const *v = verbs; *v; v++) {
		AUTO(str) help = STR_INIT(TEXT_MAX);
		AUTO(str) man = STR_INIT(TEXT_MAX);
		help_verb(&help, *v);
		man_verb(&man, *v);
		assert_false(str_full(&man));
		assert_true(text_starts(text_of(str_text(&man)), ".TH "));
		verbs_foreach_option(o, *v)
			assert_true(text_has(text_of(str_text(&help)), o->name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_fits_80_columns),
		cmocka_unit_test(test_help_names_every_option),
	};

	return cmocka_run_group_tests_name("cli/help", tests, NULL, NULL);
}
