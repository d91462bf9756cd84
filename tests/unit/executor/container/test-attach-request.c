/* The request for an attach session, made and read (executor/container/decisions/attach-request.h).
 */
#include "unit/unit.h"

#include "base/mem.h"
#include "executor/container/decisions/attach-request.h"

static int read_text(const char *text, struct attach_request *ret, struct error *err)
{
	auto_json *request = json_read(text_of(text), 1 << 20, "request", ERROR_USAGE, err);

	assert_non_null(request);
	return attach_request_read(request, ret, err);
}

static void test_defaults(void **state)
{
	static const char *const texts[] = {"{}", "{\"argv\":null}", "{\"argv\":[]}",
		"{\"argv\":[],\"tty\":1,\"write\":\"x\",\"rows\":5,\"cols\":9}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_error struct error err = ERROR_INIT;
		struct attach_request r;
		assert_done(read_text(texts[i], &r, &err), &err);
		assert_int_equal(r.argc, 1);
		assert_int_equal(r.argv_len, sizeof(ATTACH_SHELL));
		assert_memory_equal(r.argv, ATTACH_SHELL, sizeof(ATTACH_SHELL));
		assert_false(r.tty || r.write || r.rows || r.cols);
	}
}

static void test_words(void **state)
{
	static const struct {
		const char *text;
		enum error_code code;
	} cases[] = {
		{"{\"argv\":[\"\"]}", ERROR_ARGV_EMPTY},
		{"{\"argv\":[\" \\n\"]}", ERROR_ARGV_EMPTY},
		{"{\"argv\":[\"a\\u0000\"]}", ERROR_ARGV_INVALID},
		{"{\"argv\":[\"a\",\"\\u0000\"]}", ERROR_ARGV_INVALID},
		{"{\"argv\":[\"a\",7]}", ERROR_ARGV_INVALID},
		{"{\"argv\":[null]}", ERROR_ARGV_INVALID},
		{"{\"argv\":\"a\"}", ERROR_ARGV_INVALID},
		{"{\"argv\":{}}", ERROR_ARGV_INVALID},
		{"{\"argv\":[\"a\",\"\",\"\xc3\xbc\"]}", ERROR_NONE},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_error struct error err = ERROR_INIT;
		struct attach_request r;
		int want = cases[i].code == ERROR_NONE ? 0 : -1;
		assert_int_equal(read_text(cases[i].text, &r, &err), want);
		assert_int_equal(err.code, cases[i].code);
		if (want == 0) {
			assert_int_equal(r.argc, 3);
			assert_int_equal(r.argv_len, 6);
			assert_memory_equal(r.argv, "a\0\0\xc3\xbc", 6);
		}
	}
}

/* n words of `bytes` bytes each are made and read back, or refused by both with the same code. */
static void try_size(size_t n, size_t bytes, bool fits)
{
	auto_error struct error err = ERROR_INIT, second = ERROR_INIT;
	auto_free char **argv = mem_alloc((n + 1) * sizeof(*argv));
	auto_free char *word = mem_alloc(bytes + 1);
	auto_json *request = NULL, *raw = json_object(), *words = json_array();
	struct attach_wish wish = {.argv = argv, .write = true};
	struct attach_request r;

	memset(word, 'x', bytes);
	for (size_t i = 0; i < n; i++) {
		argv[i] = word;
		json_array_append_new(words, json_string(word));
	}
	json_object_set(raw, "argv", words);
	int made = attach_request_make(&wish, &request, &err);
	int was_read = attach_request_read(raw, &r, &second);
	assert_int_equal(made, fits ? 0 : -1);
	assert_int_equal(was_read, made);
	assert_int_equal(err.code, fits ? ERROR_NONE : ERROR_ARGV_TOO_LARGE);
	assert_int_equal(second.code, err.code);
	if (!fits)
		return;
	assert_done(attach_request_read(request, &r, &err), &err);
	assert_int_equal(r.argc, n);
	assert_int_equal(r.argv_len, n * (bytes + 1));
	assert_true(r.write && !r.tty);
}

static void test_limits(void **state)
{
	(void)state;
	try_size(64, 1, true);
	try_size(65, 1, false);
	try_size(1, 4063, true);
	try_size(1, 4064, false);
	try_size(16, 253, true);
	try_size(16, 254, false);
}

static void test_bytes_that_are_no_text(void **state)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *request = NULL;
	struct attach_wish wish = {.argv = (char *[]){"a", "\xff", NULL}};

	(void)state;
	assert_int_equal(attach_request_make(&wish, &request, &err), -1);
	assert_int_equal(err.code, ERROR_ARGV_INVALID);
	assert_null(request);
}

static void test_sizes(void **state)
{
	static const struct {
		int64_t asked;
		uint16_t want;
	} sides[] = {{0, 24}, {-1, 24}, {INT64_MIN, 24}, {1, 1}, {999, 999}, {1000, 1000},
		{1001, 1000}, {65535, 1000}, {INT64_MAX, 1000}};
	struct attach_wish wish = {.tty = true, .rows = 0, .cols = 2000};
	auto_error struct error err = ERROR_INIT;
	auto_json *request = NULL;
	struct attach_request r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++)
		assert_int_equal(attach_request_side(sides[i].asked, 24), sides[i].want);
	assert_done(attach_request_make(&wish, &request, &err), &err);
	assert_done(attach_request_read(request, &r, &err), &err);
	assert_int_equal(r.rows, ATTACH_ROWS);
	assert_int_equal(r.cols, ATTACH_SIDE_MAX);
	assert_true(r.tty && !r.write);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bytes_that_are_no_text),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
