/*
 * What a build prints (image-trust.md §11.4, §14.3): whatever comes, in whatever pieces, only text
 * without control characters but TAB and LF leaves, in writes that fit a pipe, and the end that is
 * kept has its bounds.
 */
#include <assert.h>

#include "executor/container/driver/build-output.h"

enum { SHOWN_MAX = 1 << 20 };

static void assert_clean(struct text t)
{
	uint32_t c;

	while (t.len > 0) {
		size_t n = utf8_next(t, &c);
		assert(n > 0);
		assert(c == '\t' || c == '\n' || (c >= 0x20 && c < 0x7f) || c >= 0xa0);
		t = text_after(t, n);
	}
}

static void show(void *data, struct text piece)
{
	assert(piece.len > 0 && piece.len <= 4096);
	assert_clean(piece);
	str_add(data, piece.p, piece.len);
}

static void feed(struct text in, size_t step, struct str *shown)
{
	AUTO(build_output) o = BUILD_OUTPUT_INIT;
	size_t lines = 0;

	o.show = show;
	o.data = shown;
	for (struct text rest = in; rest.len > 0;) {
		size_t n = rest.len < step ? rest.len : step;
		build_output_take(&o, (struct text){rest.p, n});
		rest = text_after(rest, n);
	}
	build_output_end(&o);
	struct text last = build_output_last_lines(&o);
	assert(last.len <= BUILD_OUTPUT_BYTES);
	assert_clean(last);
	for (size_t i = 0; i < last.len; i++)
		lines += last.p[i] == '\n';
	assert(lines < BUILD_OUTPUT_LINES);
	/* The kept end is the end of what was shown, without its last LF. */
	assert(shown->len > last.len || (last.len == 0 && shown->len == 0));
	if (shown->len > 0)
		assert(memcmp(shown->data + shown->len - 1 - last.len, last.p, last.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(str) whole = STR_INIT(SHOWN_MAX);
	AUTO(str) pieces = STR_INIT(SHOWN_MAX);
	struct text in = {(const char *)data, size};

	feed(in, size ? size : 1, &whole);
	feed(in, size ? 1 + data[0] % 7 : 1, &pieces);
	assert(whole.len == pieces.len);
	assert(whole.len == 0 || memcmp(whole.data, pieces.data, whole.len) == 0);
	return 0;
}
