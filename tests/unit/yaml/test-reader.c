#include "unit/unit.h"

#include "base/json.h"
#include "yaml/reader.h"

static const struct reader_rules rules = {.max_events = READER_SANDBOX_EVENTS};

static char *path_of(const struct tree *t, const struct node *n)
{
	AUTO(str) out = STR_INIT(NODE_PATH_MAX);

	node_path(t, n, &out);
	return str_take(&out);
}

static void positions_and_paths(void **state)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(tree) t = TREE_INIT;

	(void)state;
	assert_int_equal(
		reader_read(TEXT("\xef\xbb\xbf# \xc3\xa9\na:\n- {b: \xc3\xa9, c: 'x y'}\n"), &rules,
			&errors, &t),
		0);
	assert_int_equal(errors.n, 0);
	const struct node *item = node_find(t.root, "a")->first;
	const struct node *c = node_key(item, "c")->value;
	auto_free char *path = path_of(&t, c);
	assert_string_equal(path, "a[0].c");
	assert_int_equal(c->at.line, 3);
	assert_int_equal(c->at.column, 13);
	assert_false(c->plain);
	assert_true(text_is(c->text, "x y"));
}

static void keys_in_paths_are_bounded_and_plain(void **state)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(tree) t = TREE_INIT;
	const struct reader_rules private = {
		.max_events = READER_SANDBOX_EVENTS, .private_key = "env"};

	(void)state;
	assert_int_equal(reader_read(TEXT("env: {'A=secret': {'B=more': 1}}\n"
					  "\"a.b[\\0]\\\"\\\\\": {'': 1}\n"
					  "'X=y': 1\n"),
				 &private, &errors, &t),
		0);
	const struct node *env = t.root->first, *odd = env->next, *open = odd->next;
	auto_free char *deep = path_of(&t, env->value->first->value->first->value);
	assert_string_equal(deep, "env.A=??????.B=????");
	auto_free char *empty = path_of(&t, odd->value->first->value);
	assert_string_equal(empty, "a?b????"
				   "?.?");
	auto_free char *shown = path_of(&t, open);
	assert_string_equal(shown, "X=y");
}

static void refused_things_are_marked(void **state)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(tree) t = TREE_INIT;

	(void)state;
	assert_int_equal(reader_read(TEXT("a: &x 1\nb: *x\nc: ! 2\n!t d: 3\na: 4\n<<: 5\n~: 6\n"),
				 &rules, &errors, &t),
		0);
	const char *const codes[] = {
		"anchor", "alias", "tag", "tag", "duplicate_key", "merge_key", "null_key"};
	problems_finish(&errors);
	assert_int_equal(errors.n, ARRAY_SIZE(codes));
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		assert_string_equal(errors.v[i].code, codes[i]);
	assert_false(node_find(t.root, "a")->refused);
	assert_true(node_find(t.root, "b")->refused);
	assert_true(node_find(t.root, "c")->refused);
	assert_true(node_key(t.root, "d")->key_refused);
	auto_json *json = node_to_json(t.root);
	auto_free char *text = json_write(json);
	assert_string_equal(text, "{\"a\":1,\"b\":null,\"c\":null}");
}

/* `!` before text leaves no trace in libyaml's event; what follows an empty node is not its own. */
static void tags_that_the_parser_drops(void **state)
{
	static const struct {
		const char *text;
		unsigned tags;
	} cases[] = {
		{"a: ! b", 1},
		{"a: ! 'b'", 1},
		{"a: !", 1},
		{"a: ! |\n b", 1},
		{"a: &x ! b", 1},
		{"a: ! &x b", 1},
		{"a: &x # !\n  ! b", 1},
		{"a: !<!> b", 1},
		{"! a: ! b", 2},
		{"\xc3\xa9: 1\na: ! b", 1},
		{"a: &x\n!t b: 1", 1},
		{"[&x , ! b]", 1},
		{"a: &x\nb: '!'", 0},
		{"a: '! b'\nb: &x '! c'\nc: \"!\"", 0},
		{"a: b ! c", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
		AUTO(tree) t = TREE_INIT;
		unsigned tags = 0;
		assert_int_equal(reader_read(text_of(cases[i].text), &rules, &errors, &t), 0);
		for (size_t j = 0; j < errors.n; j++)
			tags += strcmp(errors.v[j].code, "tag") == 0;
		if (tags != cases[i].tags)
			fail_msg("%s: %u tags", cases[i].text, tags);
	}
}

static void more_events_where_the_caller_allows_them(void **state)
{
	AUTO(str) bytes = STR_INIT(1 << 20);
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(tree) t = TREE_INIT;
	const struct reader_rules config = {.max_events = READER_CONFIG_EVENTS};

	(void)state;
	for (unsigned i = 0; i < 9997; i++)
		str_addf(&bytes, "k%u: 1\n", i);
	struct text all = {bytes.data, bytes.len};
	assert_int_equal(reader_read(all, &config, &errors, &t), 0);
	assert_int_equal(t.root->n, 9997);
	tree_done(&t);
	str_add_text(&bytes, "last: 1\n");
	all = (struct text){bytes.data, bytes.len};
	assert_int_equal(reader_read(all, &config, &errors, &t), 1);
	assert_null(t.root);
	assert_string_equal(errors.v[0].code, "too_complex");
}

static void many_directives_stop_before_the_parser(void **state)
{
	static const struct {
		const char *head, *code;
		unsigned line;
	} cases[] = {{"# c\n\n", "directive", 3}, {"a\n...\n# c\n", "multiple_documents", 4}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO(str) bytes = STR_INIT(1 << 20);
		AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
		AUTO(tree) t = TREE_INIT;
		str_add_text(&bytes, cases[i].head);
		for (unsigned j = 0; j < 100; j++)
			str_addf(&bytes, "%%TAG\t!a%u! x\n", j);
		struct text all = {bytes.data, bytes.len};
		assert_int_equal(reader_read(all, &rules, &errors, &t), 1);
		assert_string_equal(errors.v[0].code, cases[i].code);
		assert_int_equal(errors.v[0].at.line, cases[i].line);
	}
}

static void json_keeps_types(void **state)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(tree) t = TREE_INIT;

	(void)state;
	assert_int_equal(
		reader_read(TEXT("[true, \"true\", 12, -3, 012, '5', null, ~, 1.5, x, {a: []}, "
				 "9999999999999999999]"),
			&rules, &errors, &t),
		0);
	auto_json *json = node_to_json(t.root);
	auto_free char *text = json_write(json);
	assert_string_equal(text,
		"[true,\"true\",12,-3,\"012\",\"5\",null,null,\"1.5\",\"x\",{\"a\":[]},"
		"\"9999999999999999999\"]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(positions_and_paths),
		cmocka_unit_test(keys_in_paths_are_bounded_and_plain),
		cmocka_unit_test(refused_things_are_marked),
		cmocka_unit_test(tags_that_the_parser_drops),
		cmocka_unit_test(more_events_where_the_caller_allows_them),
		cmocka_unit_test(many_directives_stop_before_the_parser),
		cmocka_unit_test(json_keeps_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
