/*
 * The decoder of attach frames on any bytes: what it takes encodes to the very same bytes; a
 * buffer that is cut anywhere gives the same frames as far as they go and then wants more, or
 * says at once what it says of the whole.
 */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "executor/container/decisions/attach-frame.h"

/* Bytes taken of the first `size`. */
static size_t decode(struct text bytes, size_t size, enum attach_state *ret)
{
	auto_free char *copy = mem_strndup(bytes.p, size);
	AUTO(str) again = STR_INIT(1 << 20);
	struct text rest = {copy, size};
	struct attach_frame f;

	while ((*ret = attach_frame_decode(&rest, &f)) == ATTACH_FRAME) {
		int r = attach_frame_encode(&f, &again);
		assert(r == 0);
	}
	size_t taken = size - rest.len;
	assert(taken == again.len && memcmp(str_text(&again), copy, taken) == 0);
	assert((*ret == ATTACH_OK) == (rest.len == 0));
	return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = {(const char *)data, size};
	enum attach_state state, cut_state;

	size_t taken = decode(bytes, size, &state);
	size_t step = size / 64 + 1;
	for (size_t cut = 0; cut < size; cut += step) {
		size_t cut_taken = decode(bytes, cut, &cut_state);
		assert(cut_taken <= taken && cut_taken <= cut);
		assert(cut_state != ATTACH_INVALID || (state == ATTACH_INVALID && cut > taken));
	}
	return 0;
}
