/*
 * Redaction: the whole output and what is shown on the way are exactly the plain rule's, wherever
 * the input is cut. Input: a byte that says how many secrets, each a length byte and bytes, a
 * byte that seeds the cuts, then the text.
 */
#include <assert.h>
#include <stdint.h>

#include "executor/runlog/redact.h"
#include "redact-oracle.h"

enum { VALUES_MAX = 24, VALUE_MAX = 100 };

static struct text take(struct text *rest, size_t n)
{
	struct text part = {rest->p, n < rest->len ? n : rest->len};

	*rest = text_after(*rest, part.len);
	return part;
}

static unsigned take_byte(struct text *rest)
{
	struct text b = take(rest, 1);

	return b.len ? (unsigned char)b.p[0] : 0;
}

static void add_values(struct text *rest, struct redactor *r, struct oracle *o)
{
	unsigned n = take_byte(rest) % VALUES_MAX;

	for (unsigned i = 0; i < n; i++) {
		auto_error struct error err = ERROR_INIT;
		struct text value = take(rest, take_byte(rest) % VALUE_MAX);
		int added = redactor_add(r, value, &err);
		assert(added >= 0);
		oracle_add(o, value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_PTR(redactor) r = redactor_new();
	AUTO_PTR(redact_stream) s = redact_stream_new(r);
	AUTO(oracle) o = {0};
	AUTO(str) got = STR_INIT(1 << 20), want = STR_INIT(1 << 20);
	AUTO(str) scratch = STR_INIT(1 << 20);
	struct text rest = {(const char *)data, size};

	add_values(&rest, r, &o);
	unsigned seed = take_byte(&rest);
	struct text whole = take(&rest, ORACLE_TEXT_MAX);
	for (size_t at = 0; at < whole.len;) {
		size_t n = 1 + seed % 40;
		seed = seed * 1103515245 + 12345;
		n = n < whole.len - at ? n : whole.len - at;
		struct text shown =
			redact_stream_write(s, (struct text){whole.p + at, n}, &scratch);
		str_add(&got, shown.p, shown.len);
		at += n;
	}
	oracle_show(&o, whole, false, &want);
	assert(got.len == want.len && memcmp(str_text(&got), str_text(&want), got.len) == 0);
	struct text shown = redact_stream_end(s, &scratch);
	str_add(&got, shown.p, shown.len);
	str_reset(&want);
	oracle_show(&o, whole, true, &want);
	assert(got.len == want.len && memcmp(str_text(&got), str_text(&want), got.len) == 0);
	str_reset(&got);
	redact_text(r, whole, &got);
	assert(got.len == want.len && memcmp(str_text(&got), str_text(&want), got.len) == 0);
	return 0;
}
