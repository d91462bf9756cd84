#include "unit/spec/spec-unit.h"

#include "base/json.h"
#include "schema/json-schema.h"
#include "spec/spec-json.h"
#include "spec/spec-keys.h"
#include "spec/starter.h"

static void envelope_of_a_refused_file(void **state)
{
	AUTO(spec_result) file = {0};
	auto_error struct error err = ERROR_INIT;

	(void)state;
	unit_parse("imag: a\nresources: {cpu: -1}\n", &file);
	assert_int_equal(spec_result_error(&file, &err), -1);
	assert_int_equal(err.code, ERROR_SANDBOX_INVALID_SPEC);
	assert_string_equal(err.message, "sandbox: invalid spec: .cloop/sandbox.yaml:1:1: imag: "
					 "the key \"imag\" is not known "
					 "here (and 1 more error)");
	assert_int_equal(json_array_size(json_object_get(err.details, "errors")), 2);
}

static void answer_of_check(void **state)
{
	AUTO(spec_result) file = {0};

	(void)state;
	unit_parse("env:\nresources: {cpu: 5000}\n", &file);
	auto_json *got = spec_json_check(&file);
	assert_true(json_is_true(json_object_get(got, "ok")));
	assert_int_equal(json_array_size(json_object_get(got, "warnings")), 2);
	assert_true(json_is_null(json_object_get(json_object_get(got, "spec"), "env")));
	assert_string_equal(json_get_string(got, "path"), SPEC_PATH);
	spec_result_done(&file);
	unit_parse("a: 1", &file);
	auto_json *refused = spec_json_check(&file);
	assert_null(json_object_get(refused, "spec"));
	assert_true(json_is_true(json_object_get(refused, "present")));
	assert_true(json_is_null(json_object_get(refused, "sha256")));
}

static void starter_is_valid(void **state)
{
	AUTO(str) out = STR_INIT(SPEC_MAX_BYTES);
	AUTO(spec_result) empty = {0};
	AUTO(spec_result) named = {0};

	(void)state;
	starter_write(NULL, &out);
	unit_parse(str_text(&out), &empty);
	assert_true(empty.ok && !empty.present);
	str_reset(&out);
	starter_write("alpine:3.20", &out);
	unit_parse(str_text(&out), &named);
	assert_true(named.ok && named.present);
	assert_string_equal(named.spec.image, "alpine:3.20");
}

/* Every commented line of the starter is right once the mark is taken away. */
static void starter_is_valid_uncommented(void **state)
{
	AUTO(str) out = STR_INIT(SPEC_MAX_BYTES);
	AUTO(str) open = STR_INIT(SPEC_MAX_BYTES);
	AUTO(spec_result) file = {0};
	struct text rest, line;

	(void)state;
	starter_write(NULL, &out);
	rest = (struct text){out.data, out.len};
	while (text_split(&rest, '\n', &line)) {
		if (line.len > 1 && line.p[0] == '#' && (line.p[1] != ' ' || line.p[2] == ' '))
			line = text_after(line, 1);
		if (!text_starts(line, "  egress: none"))
			str_add(&open, line.p, line.len);
		str_add_char(&open, '\n');
	}
	unit_parse(str_text(&open), &file);
	if (!file.ok)
		fail_msg("%s: %s", file.errors.v[0].path, file.errors.v[0].message);
	assert_int_equal(file.spec.mounts.n, 2);
	assert_int_equal(file.spec.resources.memory_mb, 4096);
}

/* The secret may be anywhere right of the first `=`; none of it is ever shown. */
static void no_value_of_a_variable_is_shown(void **state)
{
	static const char *const files[] = {
		"env: ['A=hunter2']",
		"env: ['1=hunter2']",
		"env: ['A=b=hunter2']",
		"env: 'A=hunter2'",
		"env: {'A=hunter2': x, 'A=hunter2': y}",
		"env: [['A=hunter2']]",
		"env: [{'A=hunter2': &x 1}]",
		"env: [&x 'A=hunter2']",
		"env: [!t 'A=hunter2']",
		"env: ['A\\n=hunter2']",
		"env:\n- A=hunter2\n- ~\n",
		"env: {? ['A=hunter2'] : 1}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO(spec_result) file = {0};
		unit_parse(files[i], &file);
		auto_json *got = spec_json_check(&file);
		auto_free char *text = json_write(got);
		assert_false(file.ok);
		if (strstr(text, "hunter2"))
			fail_msg("%s: %s", files[i], text);
	}
}

static void schema_names_every_key(void **state)
{
	auto_json *schema = json_schema_of(spec_keys_schema(), "x", "y");
	json_t *properties = json_object_get(schema, "properties");

	(void)state;
	assert_int_equal(json_object_size(properties), 6);
	assert_int_equal(json_object_size(json_object_get(
				 json_object_get(properties, "capabilities"), "properties")),
		7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(envelope_of_a_refused_file),
		cmocka_unit_test(answer_of_check),
		cmocka_unit_test(starter_is_valid),
		cmocka_unit_test(starter_is_valid_uncommented),
		cmocka_unit_test(no_value_of_a_variable_is_shown),
		cmocka_unit_test(schema_names_every_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
