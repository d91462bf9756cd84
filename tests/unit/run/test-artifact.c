#include "unit/unit.h"

#include "base/text.h"
#include "run/artifact.h"

static void test_names(void **state)
{
	(void)state;
	static const char *const names[][2] = {
		{"Add a retry to the upload path", "7-add-a-retry-to-the-upload-path.md"},
		{"../../etc/passwd", "7-etc-passwd.md"},
		{"", "7-task.md"},
		{"\xc3\xbc\x1b/..", "7-task.md"},
		{"--a--b--", "7-a-b.md"},
		{"0123456789012345678901234567890123456789012345678901234567890123456789",
			"7-01234567890123456789012345678901234567890123456789012345.md"},
	};
	char name[ARTIFACT_NAME_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		artifact_name(7, text_of(names[i][0]), name);
		assert_string_equal(name, names[i][1]);
	}
	artifact_name(INT64_MAX, text_of(names[5][0]), name);
	assert_true(text_ends(text_of(name), "012345.md"));
}

static void write_one(struct text title, struct text output, struct str *out)
{
	AUTO(strv) argv = STRV_INIT(8);
	const struct store_run run = {
		.handle = TEXT("c-0123456789ab"),
		.executor_id = TEXT("container"),
		.executor_kind = TEXT("container"),
		.image_requested = TEXT(""),
		.image = TEXT("a@sha256:b"),
		.outcome = TEXT("nonzero"),
		.exit_code = 3,
		.signal = -1,
		.reproducible = true,
	};
	struct artifact a = {.id = 42,
		.title = title,
		.status = "failed",
		.note = TEXT("why\n```\nnot"),
		.argv = &argv,
		.run = &run,
		.output = output,
		.output_cut = true};

	strv_add(&argv, "sh");
	strv_add(&argv, "a\n```\n");
	artifact_write(&a, out);
}

static void test_front_matter(void **state)
{
	(void)state;
	static const char expected[] =
		"---\nid: 42\ntitle: \"\\\"a\\\" \\\\ \\u000a---\\u000a # \xc3\xa9 \\u202e \\u0085 "
		"\\\\xff\"\nstatus: failed\nexecutor_id: \"container\"\nexecutor_kind: "
		"\"container\"\n"
		"sandbox_spec_sha256: \"\"\nsandbox_image_requested: \"\"\n"
		"sandbox_image: \"a@sha256:b\"\nsandbox_reproducible: true\n"
		"sandbox_setup_sha256: \"\"\n---\n";
	AUTO(str) out = STR_INIT(ARTIFACT_MAX);

	write_one(TEXT("\"a\" \\ \n---\n # \xc3\xa9 \xe2\x80\xae \xc2\x85 \xff"), TEXT(""), &out);
	assert_memory_equal(str_text(&out), expected, sizeof(expected) - 1);
	assert_non_null(strstr(str_text(&out), "exit code: 3\n"));
	assert_true(text_ends(text_of(str_text(&out)), "None.\n"));
}

/* Nothing in a block ends it. */
static void test_blocks(void **state)
{
	(void)state;
	AUTO(str) out = STR_INIT(ARTIFACT_MAX);

	write_one(TEXT("t"), (struct text){"a\x1b[1m\n````\n\tb\r\n\n\0", 17}, &out);
	assert_non_null(strstr(str_text(&out), "note: why\\x0a```\\x0anot\n"));
	assert_true(text_ends(
		text_of(str_text(&out)), "`````text\na\\x1b[1m\n````\n\tb\\x0d\n\n\\x00\n`````\n"));
}

/* The largest of everything fits. */
static void test_largest(void **state)
{
	(void)state;
	AUTO(str) out = STR_INIT(ARTIFACT_MAX);
	char bytes[ARTIFACT_OUTPUT_MAX];

	memset(bytes, 0xff, sizeof(bytes));
	write_one((struct text){bytes, 2048}, (struct text){bytes, sizeof(bytes)}, &out);
	assert_false(str_full(&out));
	str_reset(&out);
	memset(bytes, '`', sizeof(bytes));
	write_one((struct text){bytes, 2048}, (struct text){bytes, sizeof(bytes)}, &out);
	assert_false(str_full(&out));
	assert_true(text_ends(text_of(str_text(&out)), "```\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_front_matter),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
