#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/parse.h"

enum { WORDS = 12 };

static const struct option own[] = {
	{"--name", "TEXT", "a value", NULL, false},
	{"--label", "K=V", "a list", NULL, true},
	{"--signal", "SIGNAL", "a choice", "interrupt kill", false},
	{"--all", NULL, "a flag", NULL, false},
	{0},
};

struct line {
	char *words[WORDS];
	const char *message; /* part of the error, or NULL: understood */
	const char *remedy;  /* part of it, or NULL */
};

static int count(char *const *words)
{
	int n = 0;

	while (n < WORDS && words[n])
		n++;
	return n;
}

static int parse(struct line *l, struct cli *ret, struct error *err)
{
	return parse_command_line(count(l->words), l->words, ret, err);
}

static void test_lines(void **state)
{
	static struct line lines[] = {
		{{"cloop"}, "no command", "cloop help"},
		{{"cloop", ""}, "unknown command \"\"", NULL},
		{{"cloop", "versoin"}, "unknown command \"versoin\"", "cloop version"},
		{{"cloop", "VERSION"}, "unknown command \"VERSION\"", "cloop version"},
		{{"cloop", "image"}, "needs a second word", "cloop help image"},
		{{"cloop", "image", "prase", "x"}, "unknown command \"image prase\"",
			"cloop image parse"},
		{{"cloop", "image", "parse"}, "missing: REF", NULL},
		{{"cloop", "image", "parse", "a", "b"}, "too many arguments, beginning with \"b\"",
			NULL},
		{{"cloop", "version", "--jsno"}, "unknown option \"--jsno\"", "--json"},
		{{"cloop", "version", "--js"}, "unknown option \"--js\"", "--json"},
		{{"cloop", "version", "-x"}, "unknown option \"-x\"", NULL},
		{{"cloop", "version", "--json=1"}, "takes no value", NULL},
		{{"cloop", "version", "--home", "x"}, "does not take --home", NULL},
		{{"cloop", "version", "--config", "x"}, "does not take --config", NULL},
		{{"cloop", "ps", "--config", "x", "--home", "y"}, NULL, NULL},
		{{"cloop", "-C"}, "-C needs a value: DIR", NULL},
		{{"cloop", "--home", "--", "x"}, "--home needs a value", NULL},
		{{"cloop", "--home", "a", "--home=b", "help"}, "--home is given twice", NULL},
		{{"cloop", "version"}, NULL, NULL},
		{{"cloop", "--json", "version"}, NULL, NULL},
		{{"cloop", "version", "--json", "--json"}, NULL, NULL},
		{{"cloop", "version", "--"}, NULL, NULL},
		{{"cloop", "image", "parse", "--", "--json"}, NULL, NULL},
		{{"cloop", "image", "parse", "--privileged"}, NULL, NULL},
		{{"cloop", "image", "parse", "-"}, NULL, NULL},
		{{"cloop", "help", "image", "parse"}, NULL, NULL},
		{{"cloop", "--help"}, NULL, NULL},
		{{"cloop", "image", "-h"}, NULL, NULL},
		{{"cloop", "image", "parse", "--help"}, NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		AUTO(cli) c = {0};
		auto_error struct error err = ERROR_INIT;
		int r = parse(&lines[i], &c, &err);
		if (!lines[i].message) {
			assert_int_equal(r, 0);
			assert_true(c.verb || c.help);
			continue;
		}
		assert_int_equal(r, -1);
		assert_int_equal(err.code, ERROR_USAGE);
		assert_true(text_has(text_of(err.message), lines[i].message));
		if (lines[i].remedy)
			assert_true(text_has(text_of(err.remedy), lines[i].remedy));
	}
}

static void test_json_is_known_before_an_error(void **state)
{
	static struct line line = {{"cloop", "nonsense", "--json"}, NULL, NULL};
	static struct line after = {{"cloop", "nonsense", "--", "--json"}, NULL, NULL};
	AUTO(cli) c = {0};
	auto_error struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(parse(&line, &c, &err), -1);
	assert_true(c.json);
	cli_done(&c);
	assert_int_equal(parse(&after, &c, &err), -1);
	assert_false(c.json);
}

static int nothing(struct cli *c, struct error *err)
{
	(void)c;
	(void)err;
	return 0;
}

static void test_values(void **state)
{
	const struct verb verb = {
		.name = "x", .summary = "x", .flags = VERB_PROJECT, .options = own, .run = nothing};
	struct cli_value values[] = {
		{&own[1], "a=1"}, {&own[0], ""}, {&own[1], "b=2"}, {&own[3], NULL}};
	struct cli c = {.verb = &verb, .values = values, .n_values = ARRAY_SIZE(values)};
	auto_error struct error err = ERROR_INIT;
	size_t at = 0;
	uint64_t n;

	(void)state;
	assert_string_equal(cli_option(&c, "--name"), "");
	assert_true(cli_flag(&c, "--all"));
	assert_null(cli_option(&c, "--signal"));
	assert_string_equal(cli_option_next(&c, "--label", &at), "a=1");
	assert_string_equal(cli_option_next(&c, "--label", &at), "b=2");
	assert_null(cli_option_next(&c, "--label", &at));
	assert_int_equal(cli_option_number(&c, "--signal", 10, 7, &n, &err), 0);
	assert_int_equal(n, 7);
	assert_int_equal(cli_option_number(&c, "--name", 10, 7, &n, &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
	values[1].text = "11";
	assert_int_equal(cli_option_number(&c, "--name", 10, 7, &n, &err), -1);
	values[1].text = "2m";
	assert_int_equal(cli_option_duration_ms(&c, "--name", 0, &n, &err), 0);
	assert_int_equal(n, 120000);
	assert_int_equal(cli_error_exit(&c, &err), CLI_USAGE);
	error_set(&err, ERROR_IO, "x");
	assert_int_equal(cli_error_exit(&c, &err), CLI_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_json_is_known_before_an_error),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests_name("cli/parse", tests, NULL, NULL);
}
