#include "unit/unit.h"

#include "executor/runlog/chunker.h"
#include "executor/runlog/log-format.h"

static void collect(struct chunker *c, struct text in, struct str *out, bool valid)
{
	struct text parts[2];

	while (chunker_next(c, &in, parts)) {
		size_t before = out->len;
		str_add(out, parts[0].p, parts[0].len);
		str_add(out, parts[1].p, parts[1].len);
		assert_true(out->len - before >= 1 && out->len - before <= LOG_PAYLOAD_MAX);
		if (valid)
			assert_true(
				utf8_valid((struct text){out->data + before, out->len - before}));
	}
	assert_int_equal(in.len, 0);
}

/* The text in reads of `step` bytes: every payload is UTF-8, and nothing is missing. */
static void check_steps(struct text text, size_t step, bool valid)
{
	AUTO(str) out = STR_INIT(1 << 20);
	struct chunker c = CHUNKER_INIT;
	struct text held;

	for (size_t at = 0; at < text.len; at += step) {
		struct text in = {text.p + at, text.len - at < step ? text.len - at : step};
		collect(&c, in, &out, valid);
		assert_true(at + in.len - out.len <= CHUNKER_HELD_MAX);
		assert_true(chunker_holding(&c) == (at + in.len > out.len));
	}
	if (chunker_flush(&c, &held))
		str_add(&out, held.p, held.len);
	assert_false(chunker_flush(&c, &held));
	assert_true(text_equal((struct text){str_text(&out), out.len}, text));
}

static void test_no_sequence_is_split(void **state)
{
	(void)state;
	static const char valid[] =
		"a\xc3\xa9z\xe2\x82\xac\xf0\x9f\x98\x80 \xed\x9f\xbf\xee\x80\x80"
		"\xf4\x8f\xbf\xbf\xe0\xa0\x80\xf0\x90\x80\x80 nd\0\xc2\x80";

	for (size_t step = 1; step <= sizeof(valid); step++)
		check_steps((struct text){valid, sizeof(valid) - 1}, step, true);
}

static void test_other_bytes_pass(void **state)
{
	(void)state;
	static const char bytes[] =
		"\xff\xfe\x80\x80\x80\x80\xc3\xc3\xe2\x82\x41\xf0\x9f\xf0\x9f\x98"
		"\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xf5\x80\x80\x80\xe0\x80";

	for (size_t step = 1; step <= sizeof(bytes); step++)
		check_steps((struct text){bytes, sizeof(bytes) - 1}, step, false);
}

/* Only what a sequence can begin with is held, not what can become none any more. */
static void test_held_or_not(void **state)
{
	(void)state;
	static const struct {
		const char *end;
		size_t held;
	} ends[] = {{"a", 0}, {"\xc3", 1}, {"\xe2", 1}, {"\xe2\x82", 2}, {"\xf0\x9f\x98", 3},
		{"\xc3\xa9", 0}, {"\xc0", 0}, {"\xc1", 0}, {"\xf5", 0}, {"\xff", 0}, {"\x80", 0},
		{"\xed\xa0", 0}, {"\xe0\x9f", 0}, {"\xf4\x90", 0}, {"\xf0\x8f", 0},
		{"\xf4\x8f", 2}};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct chunker c = CHUNKER_INIT;
		struct text in = text_of(ends[i].end), parts[2], held = {NULL, 0};
		assert_int_equal(chunker_next(&c, &in, parts), ends[i].held == 0);
		chunker_flush(&c, &held);
		assert_int_equal(held.len, ends[i].held);
	}
}

/* A long text is cut at the border before 65536, and nothing waits that need not. */
static void test_long_text(void **state)
{
	(void)state;
	static char text[200000];
	struct chunker c = CHUNKER_INIT;
	struct text parts[2];

	for (size_t shift = 0; shift < 3; shift++) {
		memset(text, 'x', shift);
		for (size_t i = shift; i + 3 <= sizeof(text); i += 3)
			memcpy(text + i, "\xe2\x82\xac", 3);
		struct text in = {text, shift + (sizeof(text) - shift) / 3 * 3};
		struct text rest = in;
		assert_true(chunker_next(&c, &rest, parts));
		assert_true(parts[1].len > LOG_PAYLOAD_MAX - 3 && parts[1].len <= LOG_PAYLOAD_MAX);
		check_steps(in, sizeof(text), true);
		check_steps(in, 65536, true);
		check_steps(in, 65537, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_sequence_is_split),
		cmocka_unit_test(test_other_bytes_pass),
		cmocka_unit_test(test_held_or_not),
		cmocka_unit_test(test_long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
