#include "unit/unit.h"

#include "executor/runlog/redact.h"
#include "fuzz/redact-oracle.h"

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static void add(struct redactor *r, const char *value)
{
	auto_error struct error err = ERROR_INIT;

	assert_done(redactor_add(r, text_of(value), &err), &err);
}

static void feed(struct redact_stream *s, struct text in, struct str *out)
{
	AUTO(str) scratch = STR_INIT(SIZE_MAX / 2);

	struct text shown = redact_stream_write(s, in, &scratch);
	str_add(out, shown.p, shown.len);
}

static void finish(struct redact_stream *s, struct str *out)
{
	AUTO(str) scratch = STR_INIT(SIZE_MAX / 2);

	struct text shown = redact_stream_end(s, &scratch);
	str_add(out, shown.p, shown.len);
}

static void expect_shown(struct str *out, const char *want)
{
	assert_true(text_is((struct text){str_text(out), out->len}, want));
	str_reset(out);
}

/* Letters so few that patterns overlap, contain and continue each other all the time. */
static struct text random_text(char *buf, size_t n, uint32_t letters)
{
	static const char alphabet[] = "ab\nc\"";

	for (size_t i = 0; i < n; i++)
		buf[i] = alphabet[random_below(letters)];
	return (struct text){buf, n};
}

static void test_against_oracle(void **state)
{
	(void)state;

	for (int round = 0; round < 1500; round++) {
		AUTO_PTR(redactor) r = redactor_new();
		AUTO_PTR(redact_stream) s = redact_stream_new(r);
		AUTO(oracle) o = {0};
		AUTO(str) got = STR_INIT(1 << 20), want = STR_INIT(1 << 20);
		char value[24], buf[400];
		uint32_t letters = 2 + random_below(4);
		auto_error struct error err = ERROR_INIT;
		for (uint32_t i = random_below(6); i > 0; i--) {
			struct text v =
				random_text(value, 1 + random_below(sizeof(value)), letters);
			assert_true(redactor_add(r, v, &err) >= 0);
			oracle_add(&o, v);
		}
		struct text whole = random_text(buf, random_below(sizeof(buf)), letters);
		for (size_t at = 0; at < whole.len;) {
			size_t n = 1 + random_below(round % 2 ? 3 : 80);
			n = n < whole.len - at ? n : whole.len - at;
			feed(s, (struct text){whole.p + at, n}, &got);
			at += n;
			str_reset(&want);
			oracle_show(&o, (struct text){whole.p, at}, false, &want);
			assert_string_equal(str_text(&got), str_text(&want));
		}
		finish(s, &got);
		str_reset(&want);
		oracle_show(&o, whole, true, &want);
		assert_string_equal(str_text(&got), str_text(&want));
	}
}

static void test_nothing_to_hide_costs_nothing(void **state)
{
	(void)state;
	AUTO_PTR(redactor) r = redactor_new();
	AUTO_PTR(redact_stream) s = redact_stream_new(r);
	AUTO(str) scratch = STR_INIT(0);
	struct text in = TEXT("anything");

	assert_true(redactor_empty(r));
	struct text out = redact_stream_write(s, in, &scratch);
	assert_ptr_equal(out.p, in.p);
	assert_int_equal(out.len, in.len);
	/* Nor does input in which nothing is found. */
	add(r, "hunter2-token");
	out = redact_stream_write(s, in, &scratch);
	assert_ptr_equal(out.p, in.p);
	out = redact_stream_write(s, TEXT("ends with hunt"), &scratch);
	assert_true(text_is(out, "ends with "));
	assert_true(redact_stream_holding(s));
	assert_null(scratch.data);
}

static void test_what_is_no_secret(void **state)
{
	(void)state;
	static const struct {
		const char *value;
		int answer;
	} cases[] = {{"1234567", 1}, {" 1234567\n", 1}, {"x", 1}, {"", 0}, {" \t\r\n", 0},
		{"[redacted]", 0}, {" [redacted] ", 0}, {"<redacted>", 0},
		{"<ReDacted: token>", 0}};
	AUTO_PTR(redactor) r = redactor_new();
	auto_error struct error err = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(redactor_add(r, text_of(cases[i].value), &err), cases[i].answer);
	assert_true(redactor_empty(r));
}

static void test_forms(void **state)
{
	(void)state;
	AUTO_PTR(redactor) r = redactor_new();
	AUTO(str) out = STR_INIT(4096);

	add(r, "a\nb\r\nc\"\\\t\b\f\x01/\x7f\xc3\xa9");
	redact_text(r, TEXT("<a\nb\r\nc\"\\\t\b\f\x01/\x7f\xc3\xa9>"), &out);
	expect_shown(&out, "<[redacted]>");
	redact_text(r, TEXT("<a\r\nb\r\nc\"\\\t\b\f\x01/\x7f\xc3\xa9>"), &out);
	expect_shown(&out, "<[redacted]>");
	redact_text(r, TEXT("<a\\nb\\r\\nc\\\"\\\\\\t\\b\\f\\u0001/\x7f\xc3\xa9>"), &out);
	expect_shown(&out, "<[redacted]>");
	/* No JSON form of what is no UTF-8. */
	add(r, "12345678\"\xff");
	redact_text(r, TEXT("12345678\\\"\xff"), &out);
	expect_shown(&out, "12345678\\\"\xff");
}

/* A refreshed secret counts for every stream; what is held and covered stays so. */
static void test_added_later(void **state)
{
	(void)state;
	AUTO_PTR(redactor) r = redactor_new();
	AUTO_PTR(redact_stream) one = redact_stream_new(r);
	AUTO_PTR(redact_stream) two = redact_stream_new(r);
	AUTO(str) out = STR_INIT(4096);

	feed(one, TEXT("new-token-1 "), &out);
	expect_shown(&out, "new-token-1 ");
	add(r, "old-token-1");
	feed(one, TEXT("old-token-1 old-to"), &out);
	expect_shown(&out, "[redacted] ");
	feed(two, TEXT("old-token-1"), &out);
	expect_shown(&out, "[redacted]");
	add(r, "new-token-1");
	add(r, "old-token-1-and-more");
	feed(one, TEXT("ken-1 new-token-1!"), &out);
	expect_shown(&out, "[redacted] [redacted]!");
	/* The known head is covered; the rest belongs to an occurrence of the longer one. */
	feed(two, TEXT("-and-more new-token-1"), &out);
	expect_shown(&out, " [redacted]");
}

static void test_end_begins_anew(void **state)
{
	(void)state;
	AUTO_PTR(redactor) r = redactor_new();
	AUTO_PTR(redact_stream) s = redact_stream_new(r);
	AUTO(str) out = STR_INIT(4096);

	add(r, "hunter2-token");
	feed(s, TEXT("x hunter2-"), &out);
	expect_shown(&out, "x ");
	finish(s, &out);
	expect_shown(&out, "hunter2-");
	assert_false(redact_stream_holding(s));
	feed(s, TEXT("token"), &out);
	expect_shown(&out, "token");
	feed(s, TEXT(" hunter2-token"), &out);
	finish(s, &out);
	expect_shown(&out, " [redacted]");
	feed(s, TEXT("hunter2-token"), &out);
	expect_shown(&out, "[redacted]");
}

static void test_limits(void **state)
{
	(void)state;
	AUTO_PTR(redactor) r = redactor_new();
	auto_error struct error err = ERROR_INIT;
	auto_free char *value = mem_alloc(REDACT_VALUE_MAX + 1);

	memset(value, 'v', REDACT_VALUE_MAX + 1);
	assert_int_equal(redactor_add(r, (struct text){value, REDACT_VALUE_MAX + 1}, &err), -1);
	assert_int_equal(err.code, ERROR_SECRET_TOO_LARGE);
	for (int i = 0; i < 4; i++) {
		value[0] = (char)('0' + i);
		assert_done(redactor_add(r, (struct text){value, REDACT_VALUE_MAX}, &err), &err);
	}
	/* Known ones again are not counted again. */
	assert_done(redactor_add(r, (struct text){value, REDACT_VALUE_MAX}, &err), &err);
	assert_int_equal(redactor_add(r, TEXT("12345678"), &err), -1);
	assert_int_equal(err.code, ERROR_SECRETS_TOO_LARGE);

	/* All of it in one write, with the worst kind of text: one long prefix after the other. */
	AUTO_PTR(redact_stream) s = redact_stream_new(r);
	AUTO(str) out = STR_INIT(SIZE_MAX / 2);
	for (int i = 0; i < 64; i++)
		feed(s, (struct text){value + 1, 65536}, &out);
	assert_int_equal(out.len, 64 * 65536);
	str_reset(&out);
	feed(s, (struct text){value, REDACT_VALUE_MAX - 1}, &out);
	assert_int_equal(out.len, 0);
	feed(s, TEXT("v!"), &out);
	expect_shown(&out, "[redacted]!");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_oracle),
		cmocka_unit_test(test_nothing_to_hide_costs_nothing),
		cmocka_unit_test(test_what_is_no_secret),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_added_later),
		cmocka_unit_test(test_end_begins_anew),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
