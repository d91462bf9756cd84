#include "unit/unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "image/derived.h"

#define KEY "aa"
#define BASE "localhost/b:1"

static const struct setup_facts facts = {.base = BASE, .n_commands = 2};

/* JSON written with ' for ". */
static json_t *json_of(const char *text)
{
	auto_free char *copy = mem_strdup(text);

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *j = json_loads(copy, 0, NULL);
	assert_non_null(j);
	return j;
}

static void test_matches(void **state)
{
	(void)state;
#define LABELS(base, key) \
	"'Config':{'Labels':{'io.cloop.sandbox.base':'" base "','io.cloop.sandbox.setup':'" key \
	"'}}"
	static const struct {
		const char *image, *base;
		bool matches;
	} rows[] = {
		{"{" LABELS(BASE, KEY) ",'RootFS':{'Layers':['1','2','3']}}",
			"{'RootFS':{'Layers':['1','2']}}", true},
		{"{" LABELS(BASE, KEY) ",'RootFS':{'Layers':['1','2']}}",
			"{'RootFS':{'Layers':['1','2']}}", true},
		{"{" LABELS(BASE, KEY) ",'RootFS':{'Layers':['1']}}",
			"{'RootFS':{'Layers':['1','2']}}", false},
		{"{" LABELS(BASE, KEY) ",'RootFS':{'Layers':['2','1']}}",
			"{'RootFS':{'Layers':['1']}}", false},
		{"{" LABELS(BASE, KEY) ",'RootFS':{}}", "{'RootFS':{'Layers':[]}}", false},
		{"{" LABELS(BASE, KEY) ",'RootFS':{'Layers':['1']}}", "{'RootFS':{}}", false},
		{"{" LABELS(BASE, "ab") ",'RootFS':{'Layers':['1']}}",
			"{'RootFS':{'Layers':['1']}}", false},
		{"{" LABELS("localhost/b:2", KEY) ",'RootFS':{'Layers':['1']}}",
			"{'RootFS':{'Layers':['1']}}", false},
		{"{'Config':{'Labels':null},'RootFS':{'Layers':['1']}}",
			"{'RootFS':{'Layers':['1']}}", false},
		{"{}", "{}", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_json *image = json_of(rows[i].image);
		auto_json *base = json_of(rows[i].base);
		if (derived_matches(image, base, &facts, KEY) != rows[i].matches)
			fail_msg("row %zu", i);
	}
}

static void test_triggers(void **state)
{
	(void)state;
	auto_json *some = json_of("{\"Config\":{\"OnBuild\":[\"RUN true\"]}}");
	auto_json *none = json_of("{\"Config\":{\"OnBuild\":null}}");

	assert_true(derived_base_has_triggers(some));
	assert_false(derived_base_has_triggers(none));
}

static void test_history(void **state)
{
	(void)state;
	auto_json *base = json_of("{\"History\":[{\"created_by\":\"a\"},{}]}");
	auto_json *good = json_of("{\"History\":[{\"created_by\":\"a\",\"x\":1},{},{},{},{},{}]}");
	auto_json *more = json_of("{\"History\":[{\"created_by\":\"a\"},{},{},{},{},{},{}]}");
	auto_json *other = json_of("{\"History\":[{\"created_by\":\"b\"},{},{},{},{},{}]}");
	auto_json *nothing = json_of("{}");

	assert_true(derived_history_matches(good, base, &facts));
	assert_false(derived_history_matches(more, base, &facts));
	assert_false(derived_history_matches(other, base, &facts));
	assert_false(derived_history_matches(nothing, base, &facts));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_matches),
		cmocka_unit_test(test_triggers), cmocka_unit_test(test_history)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
