/* Text of any bytes: cut, escaped, quoted, split and compared without losing its bounds. */
#include <assert.h>
#include <stdint.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"

static void check_utf8(struct text t)
{
	bool valid = utf8_valid(t);
	/* jansson has a validator of its own; both agree but for NUL, which it takes here too. */
	auto_json *value = json_stringn(t.p ? t.p : "", t.len);
	assert(valid == (value != NULL));
	for (size_t max = 0; max <= t.len && max < 40; max++) {
		size_t n = utf8_cut(t, max);
		assert(n <= max);
		assert(!valid || (max - n < 4 && utf8_valid((struct text){t.p, n})));
	}
}

static void check_escape(struct text t)
{
	AUTO(str) escaped = STR_INIT(t.len * 4);
	AUTO(str) quoted_text = STR_INIT(t.len * 4 + 5);

	text_escape(&escaped, t, t.len);
	struct text e = {str_text(&escaped), escaped.len};
	assert(!str_full(&escaped) && utf8_valid(e) && !text_has_control(e));
	text_quote(&quoted_text, t, t.len);
	assert(!str_full(&quoted_text) && quoted_text.len >= 2);
	for (size_t i = 0; i < quoted_text.len; i++)
		assert(quoted_text.data[i] >= 0x20 && quoted_text.data[i] < 0x7f);
	for (size_t i = 1; i + 1 < quoted_text.len; i++)
		assert(quoted_text.data[i] != '"');
	assert(strlen(quoted(t)) <= 128 * 4 + 5);
}

static void check_split(struct text t)
{
	AUTO(str) joined = STR_INIT(t.len + 1);
	struct text rest = {t.p ? t.p : "", t.len}, part;

	while (text_split(&rest, '/', &part)) {
		assert(!text_has_byte(part, '/'));
		str_add(&joined, part.p, part.len);
		str_add_char(&joined, '/');
	}
	assert(joined.len == t.len + 1 && (t.len == 0 || memcmp(joined.data, t.p, t.len) == 0));
	struct text trimmed = text_trim(t);
	assert(text_blank(t) == (trimmed.len == 0));
	assert(trimmed.len == 0 ||
		(!ascii_blank(trimmed.p[0]) && !ascii_blank(trimmed.p[trimmed.len - 1])));
}

static void check_distance(struct text t)
{
	size_t half = t.len / 2;
	struct text a = {t.p, half}, b = {t.p + half, t.len - half};
	size_t gap = b.len - a.len;

	if (b.len > 64)
		return;
	for (unsigned limit = 0; limit < 4; limit++) {
		unsigned d = text_distance(a, b, limit);
		assert(d == text_distance(b, a, limit) && d <= limit + 1);
		assert(d >= gap || d == limit + 1);
		assert(text_distance(a, a, limit) == 0);
	}
}

static void check_hex(struct text t)
{
	auto_free char *hex = mem_alloc(2 * t.len + 1);
	auto_free char *back = mem_alloc(t.len);

	hex_encode(t.p ? t.p : "", t.len, hex);
	assert(hex_decode(text_of(hex), back, t.len) == 0);
	assert(t.len == 0 || memcmp(back, t.p, t.len) == 0);
}

static void check_base64(struct text t)
{
	AUTO(secret) digits = {.p = NULL};
	AUTO(secret) back = {.p = NULL};
	AUTO(secret) bytes = {.p = NULL};
	AUTO(secret) again = {.p = NULL};

	base64_encode(t, &digits);
	assert(digits.len == (t.len + 2) / 3 * 4 && strlen(digits.p) == digits.len);
	bool read = base64_decode(secret_text(&digits), &back);
	assert(read && text_equal(secret_text(&back), t));
	if (!base64_decode(t, &bytes))
		return;
	base64_encode(secret_text(&bytes), &again);
	/* But for bits of the last digit that stand for nothing. */
	assert(again.len == t.len && (t.len < 4 || memcmp(again.p, t.p, t.len - 4) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = {(const char *)data, size};

	check_utf8(t);
	check_escape(t);
	check_split(t);
	check_hex(t);
	check_base64(t);
	if (size > 0)
		check_distance(t);
	return 0;
}
