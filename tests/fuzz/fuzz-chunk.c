/*
 * Chunk framing: the same in one piece and in small ones; what is written reads back as itself, and
 * its data is what a reader without chunks gets.
 */
#include <assert.h>
#include <stdint.h>

#include "egress/proxy/chunk.h"

enum { ROOM = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
	bool good;
	enum chunk_state state;
	size_t used;
	struct str out;
};

static void read_all(struct text raw, size_t step, bool bare, struct result *ret)
{
	struct chunks c = {.bare = bare};

	*ret = (struct result){.good = true, .out = STR_INIT(ROOM)};
	while (ret->good && ret->used < raw.len && c.state != CHUNK_END) {
		struct text rest = text_after(raw, ret->used);
		size_t used = 0;
		rest.len = step < rest.len ? step : rest.len;
		ret->good = chunk_read(&c, rest, &used, &ret->out);
		assert(!ret->good || used > 0);
		ret->used += used;
	}
	ret->state = c.state;
}

static bool same(const struct str *a, const struct str *b)
{
	return text_equal((struct text){a->data, a->len}, (struct text){b->data, b->len});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t step = size > 0 ? 1 + data[0] % 7 : 1;
	struct text raw = {(const char *)data + (size > 0), size - (size > 0)};
	struct result whole, pieces, bare, again, again_bare;

	if (raw.len > ROOM / 64)
		return 0;
	read_all(raw, raw.len, false, &whole);
	read_all(raw, step, false, &pieces);
	read_all(raw, step, true, &bare);
	assert(whole.good == pieces.good && whole.good == bare.good);
	if (whole.good) {
		assert(whole.used == pieces.used && same(&whole.out, &pieces.out));
		assert(whole.state == pieces.state && whole.state == bare.state);
	}
	if (whole.good && whole.state == CHUNK_END) {
		struct text out = {whole.out.data, whole.out.len};
		read_all(out, out.len, false, &again);
		read_all(out, out.len, true, &again_bare);
		assert(again.good && again.state == CHUNK_END && again.used == out.len);
		assert(same(&again.out, &whole.out) && same(&again_bare.out, &bare.out));
		str_done(&again.out);
		str_done(&again_bare.out);
	}
	str_done(&whole.out);
	str_done(&pieces.out);
	str_done(&bare.out);
	return 0;
}
