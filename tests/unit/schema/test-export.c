#include "unit/unit.h"

#include "base/json.h"
#include "schema/json-schema.h"
#include "schema/key-docs.h"

struct thing {
	char *name;
	uint64_t memory;
};
struct file {
	struct schema_entries things;
};
static const struct schema_key thing_keys[] = {
	{.name = "name",
		.type = SCHEMA_TEXT,
		.flags = SCHEMA_REQUIRED,
		.offset = offsetof(struct thing, name),
		.max_bytes = 64,
		.pattern = "^[a-z]+$",
		.doc = "What it is called."},
	{.name = "memory",
		.type = SCHEMA_SIZE,
		.flags = SCHEMA_CLAMP | SCHEMA_ZERO,
		.offset = offsetof(struct thing, memory),
		.min = 64,
		.max = 1024,
		.fallback = "0"},
};
static const struct schema thing = {SCHEMA(thing_keys)};
static const struct schema_key file_keys[] = {
	{.name = "things",
		.type = SCHEMA_ENTRIES,
		.offset = offsetof(struct file, things),
		.section = &thing,
		.entry_size = sizeof(struct thing),
		.max_items = 4},
};
static const struct schema file = {SCHEMA(file_keys), .doc = "All of it."};

static void json_schema(void **state)
{
	auto_json *schema = json_schema_of(&file, "https://x/y.json", "T");
	json_t *items = json_object_get(
		json_object_get(
			json_object_get(json_object_get(schema, "properties"), "things"), "items"),
		"properties");

	(void)state;
	assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
	assert_string_equal(json_get_string(json_object_get(items, "name"), "pattern"), "^[a-z]+$");
	assert_int_equal(json_get_int(json_object_get(items, "memory"), "minimum", -1), 0);
	assert_null(json_object_get(json_object_get(items, "memory"), "maximum"));
	auto_free char *text = json_write(schema);
	assert_non_null(strstr(text, "\"required\":[\"name\"]"));
}

static void markdown(void **state)
{
	AUTO(str) out = STR_INIT(1 << 16);

	(void)state;
	key_docs_markdown(&file, "T", &out);
	assert_string_equal(str_text(&out),
		"# T\n\nAll of it.\n\n"
		"| key | value | default | meaning |\n|---|---|---|---|\n"
		"| `things` | list of mappings, at most 4 |  |  |\n"
		"\n## `things[]`\n\n"
		"| key | value | default | meaning |\n|---|---|---|---|\n"
		"| `name` | text, at most 64 bytes, required |  | What it is called. |\n"
		"| `memory` | size, 64 MB to 1024 MB, or 0; more is lowered | `0` |  |\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_schema),
		cmocka_unit_test(markdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
