#include "unit/unit.h"

#include "base/json.h"
#include "executor/runlog/log-format.h"
#include "executor/runlog/log-json.h"

/* A segment of `n` frames at first number 7 into buf; returns its size. */
static size_t build(char *buf, size_t n)
{
	static const char *const payloads[] = {
		"one", "", "[cloop] two", "\xff\x00", "and a last one"};
	static const enum log_stream streams[] = {
		LOG_STDOUT, LOG_END, LOG_NOTE, LOG_STDERR, LOG_SETUP};
	struct log_header h = {7, 1000, -5};
	size_t size = LOG_HEADER_SIZE;

	log_header_encode(&h, buf);
	for (size_t i = 0; i < n; i++) {
		struct log_frame f = {
			.seq = 7 + i, .time_ns = 100 - (int64_t)i, .stream = streams[i]};
		struct text payload = text_of(payloads[i]);
		log_frame_encode(&f, &payload, 1, buf + size);
		memcpy(buf + size + LOG_FRAME_SIZE, payload.p, payload.len);
		size += LOG_FRAME_SIZE + payload.len;
	}
	return size;
}

/* Decodes; every frame found must be the original's bytes. Returns the end of the good ones. */
static size_t decode(const char *original, struct text t, enum log_found *ret)
{
	struct log_header h;
	struct log_frame f;
	size_t at = LOG_HEADER_SIZE, size;

	*ret = log_header_decode(t, &h);
	if (*ret != LOG_FOUND)
		return 0;
	for (uint64_t seq = h.first_seq;; seq++) {
		*ret = log_frame_decode(text_after(t, at), seq, &f, &size);
		if (*ret != LOG_FOUND)
			return at;
		assert_memory_equal(original + at, t.p + at, size);
		at += size;
	}
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	char buf[1024];
	enum log_found found;
	size_t size = build(buf, 5), ends[6];

	for (size_t n = 0; n <= 5; n++) {
		char other[1024];
		ends[n] = build(other, n);
	}
	for (size_t cut = 0; cut <= size; cut++) {
		size_t good = 0;
		bool border = false;
		for (size_t n = 0; n <= 5; n++) {
			good = ends[n] <= cut ? ends[n] : good;
			border |= ends[n] == cut;
		}
		assert_int_equal(decode(buf, (struct text){buf, cut}, &found), good);
		assert_int_equal(found, border ? LOG_CLEAN : LOG_TORN);
	}
}

/* One wrong bit anywhere behind the header is found; no wrong frame ever comes out. */
static void test_any_bit(void **state)
{
	(void)state;
	char buf[1024], damaged[1024];
	enum log_found found;
	size_t size = build(buf, 5);

	for (size_t bit = LOG_HEADER_SIZE * 8; bit < size * 8; bit++) {
		memcpy(damaged, buf, size);
		damaged[bit / 8] = (char)(damaged[bit / 8] ^ 1 << bit % 8);
		assert_true(decode(buf, (struct text){damaged, size}, &found) <= bit / 8);
		assert_int_not_equal(found, LOG_CLEAN);
	}
}

static void test_order_of_judgement(void **state)
{
	(void)state;
	struct log_frame f = {.seq = 7, .stream = LOG_STDOUT}, got;
	static char payload[LOG_NOTE_MAX + 1], buf[LOG_FRAME_SIZE + sizeof(payload)];
	struct text whole = {payload, sizeof(payload)};
	size_t size = sizeof(buf);

	/* A length beyond the maximum is corrupt before the payload is there. */
	log_frame_encode(&f, &whole, 1, buf);
	memcpy(buf, "\x01\x00\x01\x00", 4);
	assert_int_equal(
		log_frame_decode((struct text){buf, LOG_FRAME_SIZE}, 7, &got, &size), LOG_CORRUPT);
	/* A wrong number is only seen once the payload is complete. */
	log_frame_encode(&f, &whole, 1, buf);
	assert_int_equal(log_frame_decode((struct text){buf, size - 1}, 8, &got, &size), LOG_TORN);
	assert_int_equal(log_frame_decode((struct text){buf, size}, 8, &got, &size), LOG_CORRUPT);
	assert_int_equal(log_frame_decode((struct text){buf, size}, 7, &got, &size), LOG_FOUND);
	/* A note has a maximum of its own. */
	f.stream = LOG_NOTE;
	log_frame_encode(&f, &whole, 1, buf);
	assert_int_equal(log_frame_decode((struct text){buf, size}, 7, &got, &size), LOG_CORRUPT);
}

static void test_retention(void **state)
{
	(void)state;
	const struct log_segment huge[] = {
		{1, UINT64_MAX, UINT64_MAX}, {2, 5, UINT64_MAX}, {3, 0, 1}};
	uint64_t dropped;

	assert_int_equal(log_retention(huge, 3, 1, &dropped), 2);
	assert_true(dropped == UINT64_MAX);
	assert_int_equal(log_retention(huge, 0, 1, &dropped), 0);
	assert_int_equal(log_segment_limit(1 << 20), 1 << 20);
	assert_int_equal(log_segment_limit(64 << 20), 4 << 20);
}

static void expect_json(const struct log_frame *f, const char *expected)
{
	auto_json *got = log_json_frame("c-0123456789ab", f);
	auto_free char *text = json_write(got);

	assert_string_equal(text, expected);
}

static void test_json(void **state)
{
	(void)state;
	struct log_frame f = {
		.seq = 1, .time_ns = -1, .stream = LOG_COMBINED, .data = TEXT("a\0b")};

	expect_json(&f, "{\"handle_id\":\"c-0123456789ab\",\"seq\":1,\"stream\":\"combined\","
			"\"time\":\"1969-12-31T23:59:59.999999999Z\",\"text\":\"a\\u0000b\"}");
	static const struct {
		const char *bytes, *base64;
	} cases[] = {{"\xff", "/w=="}, {"\xff\xfe", "//4="}, {"\xff\xfe\xfd", "//79"},
		{"\xff\xfe\xfd+", "//79Kw=="}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f.data = text_of(cases[i].bytes);
		auto_json *got = log_json_frame("c-0123456789ab", &f);
		assert_string_equal(json_get_string(got, "data_b64"), cases[i].base64);
		assert_null(json_object_get(got, "text"));
	}
	f.stream = LOG_GAP;
	f.data = TEXT("\xff\xff\xff\xff\xff\xff\xff\xff");
	auto_json *gap = log_json_frame("c-0123456789ab", &f);
	assert_true(json_is_null(json_object_get(gap, "lost_bytes")));
	assert_null(json_object_get(gap, "data_b64"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_any_bit),
		cmocka_unit_test(test_order_of_judgement),
		cmocka_unit_test(test_retention),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
