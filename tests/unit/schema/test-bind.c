/* What an operator's configuration needs of the binder beyond sandbox.yaml. */
#include "unit/unit.h"

#include "schema/schema.h"
#include "yaml/reader.h"

struct inner {
	uint64_t size_mb;
	int64_t pids;
};
struct outer {
	uint64_t timeout;
	char *mode;
	char *label;
	bool on;
	struct inner inner;
	struct schema_list words;
	size_t custom_items;
};

static bool count_items(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	size_t *count = field;

	(void)key;
	if (n->kind != NODE_SEQUENCE) {
		schema_problem(b, PROBLEM_WRONG_TYPE, n, "a list is wanted");
		return false;
	}
	*count = n->n;
	return true;
}

static const struct schema_key inner_keys[] = {
	{.name = "memory",
		.type = SCHEMA_SIZE,
		.flags = SCHEMA_ZERO,
		.offset = offsetof(struct inner, size_mb),
		.min = 64,
		.max = 1 << 20},
	{.name = "pids_limit",
		.type = SCHEMA_SIGNED,
		.offset = offsetof(struct inner, pids),
		.min = INT64_MIN,
		.max = 100,
		.range_code = "pids_invalid",
		.fallback = "-1"},
};
static const struct schema inner = {SCHEMA(inner_keys)};
static const char *const modes[] = {"warn", "required", NULL};
static const struct schema_key outer_keys[] = {
	{.name = "timeout",
		.type = SCHEMA_INTEGER,
		.offset = offsetof(struct outer, timeout),
		.min = 10,
		.max = 3600,
		.range_code = "option_out_of_range",
		.fallback = "120"},
	{.name = "mode",
		.type = SCHEMA_TEXT,
		.offset = offsetof(struct outer, mode),
		.choices = modes,
		.fallback = "warn"},
	{.name = "label",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_BLANK | SCHEMA_VERBATIM,
		.offset = offsetof(struct outer, label),
		.fallback = ""},
	{.name = "on",
		.type = SCHEMA_BOOLEAN,
		.offset = offsetof(struct outer, on),
		.fallback = "true"},
	{.name = "inner",
		.type = SCHEMA_SECTION,
		.offset = offsetof(struct outer, inner),
		.section = &inner},
	{.name = "words",
		.type = SCHEMA_LIST,
		.offset = offsetof(struct outer, words),
		.max_items = 3},
	{.name = "custom",
		.type = SCHEMA_CUSTOM,
		.offset = offsetof(struct outer, custom_items),
		.custom = count_items},
};
static const struct schema outer = {SCHEMA(outer_keys)};

static void outer_done(struct outer *o)
{
	free(o->mode);
	free(o->label);
	strv_done(&o->words.items);
}

struct answer {
	struct outer out;
	struct problems errors;
	struct problems warnings;
};

static void answer_done(struct answer *a)
{
	outer_done(&a->out);
	problems_done(&a->errors);
	problems_done(&a->warnings);
}

static void read_text(const char *text, struct answer *a)
{
	static const struct reader_rules rules = {.max_events = READER_CONFIG_EVENTS};
	AUTO(tree) tree = TREE_INIT;

	*a = (struct answer){.errors = PROBLEMS_INIT(100), .warnings = PROBLEMS_INIT(100)};
	struct schema_bind b = {.errors = &a->errors, .warnings = &a->warnings, .tree = &tree};
	schema_defaults(&outer, &a->out);
	assert_int_equal(reader_read(text_of(text), &rules, &a->errors, &tree), 0);
	schema_bind_document(&b, &outer, &a->out);
	problems_finish(&a->errors);
}

static void defaults_hold_where_nothing_is_written(void **state)
{
	AUTO(answer) a;

	(void)state;
	read_text("inner: {memory: 2g}\nmode: ~\n", &a);
	assert_int_equal(a.errors.n, 0);
	assert_int_equal(a.out.timeout, 120);
	assert_string_equal(a.out.mode, "warn");
	assert_string_equal(a.out.label, "");
	assert_true(a.out.on);
	assert_int_equal(a.out.inner.pids, -1);
	assert_int_equal(a.out.inner.size_mb, 2048);
	assert_false(a.out.words.given);
}

static void values_replace_defaults(void **state)
{
	AUTO(answer) a;

	(void)state;
	read_text("timeout: 10\nmode: required\nlabel: ' x '\non: false\ncustom: [1, 2]\n"
		  "inner: {memory: 0, pids_limit: -7}\nwords: [a, a]\n",
		&a);
	assert_int_equal(a.errors.n, 0);
	assert_int_equal(a.out.timeout, 10);
	assert_string_equal(a.out.mode, "required");
	assert_string_equal(a.out.label, " x ");
	assert_false(a.out.on);
	assert_int_equal(a.out.inner.size_mb, 0);
	assert_int_equal(a.out.inner.pids, -7);
	assert_int_equal(a.out.words.items.n, 2);
	assert_int_equal(a.out.custom_items, 2);
}

/* An operator's mistake is an error where the same of an author is a clamp. */
static void every_error_at_its_place(void **state)
{
	static const struct {
		const char *text, *path, *code;
		unsigned line, column;
	} cases[] = {
		{"timeout: 9", "timeout", "option_out_of_range", 1, 10},
		{"timeout: 3601", "timeout", "option_out_of_range", 1, 10},
		{"timeout: 0", "timeout", "option_out_of_range", 1, 10},
		{"timeout: -1", "timeout", "option_out_of_range", 1, 10},
		{"timeout: x", "timeout", "not_a_number", 1, 10},
		{"mode: WARN", "mode", "not_a_choice", 1, 7},
		{"mode: ''", "mode", "empty", 1, 7},
		{"label: \"a\\0\"", "label", "control_character", 1, 8},
		{"inner:\n  memory: 2t", "inner.memory", "too_large", 2, 11},
		{"inner:\n  memory: 63", "inner.memory", "below_minimum", 2, 11},
		{"inner: {pids_limit: 101}", "inner.pids_limit", "pids_invalid", 1, 21},
		{"inner: [a]", "inner", "wrong_type", 1, 8},
		{"words: [a, b, c, d]", "words", "too_many", 1, 18},
		{"words: [~]", "words[0]", "null_item", 1, 9},
		{"custom: 1", "custom", "wrong_type", 1, 9},
		{"memory: 1", "memory", "unknown_key", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO(answer) a;
		read_text(cases[i].text, &a);
		if (a.errors.n != 1)
			fail_msg("%s: %zu errors", cases[i].text, a.errors.n);
		assert_string_equal(a.errors.v[0].path, cases[i].path);
		assert_string_equal(a.errors.v[0].code, cases[i].code);
		assert_int_equal(a.errors.v[0].at.line, cases[i].line);
		assert_int_equal(a.errors.v[0].at.column, cases[i].column);
		assert_true(a.errors.v[0].message[0] && a.errors.v[0].remedy[0]);
	}
}

static void unknown_keys_are_guessed(void **state)
{
	static const struct {
		const char *prefix, *key, *meant; /* NULL: nothing */
	} cases[] = {
		{"", "Timeouts", "timeout"},
		{"", "tiemout", "timeout"},
		{"", "moed", "mode"},
		{"", "no", "on"},
		{"", "timeout_seconds", "timeout"},
		{"", "memory", "inner.memory"},
		{"", "PIDS_LIMIT", "inner.pids_limit"},
		{"", "quite_else", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO(str) out = STR_INIT(256);
		bool found = schema_suggest(
			&outer, &outer, cases[i].prefix, text_of(cases[i].key), &out);
		if (found != (cases[i].meant != NULL) ||
			(found && strcmp(str_text(&out), cases[i].meant) != 0))
			fail_msg("%s: %s", cases[i].key, str_text(&out));
	}
}

static void keys_are_found_by_path(void **state)
{
	(void)state;
	assert_ptr_equal(schema_find(&outer, "inner.memory"), &inner_keys[0]);
	assert_ptr_equal(schema_find(&outer, "inner"), &outer_keys[4]);
	assert_null(schema_find(&outer, "inner.memory.x"));
	assert_null(schema_find(&outer, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_hold_where_nothing_is_written),
		cmocka_unit_test(values_replace_defaults),
		cmocka_unit_test(every_error_at_its_place),
		cmocka_unit_test(unknown_keys_are_guessed),
		cmocka_unit_test(keys_are_found_by_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
