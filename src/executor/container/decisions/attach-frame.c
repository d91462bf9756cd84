#include "executor/container/decisions/attach-frame.h"

#include <assert.h>

#include "base/enum-text.h"

static const char *const type_names[] = {
	[ATTACH_STDIN] = "stdin",
	[ATTACH_RESIZE] = "resize",
	[ATTACH_EOF] = "eof",
	[ATTACH_CLOSE] = "close",
	[ATTACH_READY] = "ready",
	[ATTACH_OUTPUT] = "output",
	[ATTACH_STDERR] = "stderr",
	[ATTACH_EXIT] = "exit",
	[ATTACH_ERROR] = "error",
};
ENUM_TEXT(attach_type, type_names, ATTACH_TYPE_COUNT)

/* Lengths that a frame of the type may have. */
static const struct {
	unsigned char byte;
	uint32_t least, most;
} types[] = {
	[ATTACH_STDIN] = {0x01, 0, ATTACH_PAYLOAD_MAX},
	[ATTACH_RESIZE] = {0x02, 4, 4},
	[ATTACH_EOF] = {0x03, 0, 0},
	[ATTACH_CLOSE] = {0x04, 0, 0},
	[ATTACH_READY] = {0x11, 0, ATTACH_PAYLOAD_MAX},
	[ATTACH_OUTPUT] = {0x12, 0, ATTACH_PAYLOAD_MAX},
	[ATTACH_STDERR] = {0x13, 0, ATTACH_PAYLOAD_MAX},
	[ATTACH_EXIT] = {0x14, 0, ATTACH_PAYLOAD_MAX},
	[ATTACH_ERROR] = {0x15, 0, ATTACH_PAYLOAD_MAX},
};
static_assert(ARRAY_SIZE(types) == ATTACH_TYPE_COUNT, "every type has its byte");

bool attach_type_to_shim(enum attach_type t)
{
	return t <= ATTACH_CLOSE;
}

static int type_of(unsigned char byte)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].byte == byte)
			return (int)i;
	return -1;
}

static uint32_t get_le(const char *p, size_t bytes)
{
	uint32_t v = 0;

	for (size_t i = bytes; i > 0; i--)
		v = v << 8 | (unsigned char)p[i - 1];
	return v;
}

static void put_le(char *p, size_t bytes, uint32_t v)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = (char)(v >> 8 * i & 0xff);
}

enum attach_state attach_frame_decode(struct text *rest, struct attach_frame *ret)
{
	if (rest->len == 0)
		return ATTACH_OK;
	if (rest->len < ATTACH_HEADER_SIZE)
		return ATTACH_MORE;
	int type = type_of((unsigned char)rest->p[0]);
	uint32_t length = get_le(rest->p + 1, 4);
	if (type < 0 || length < types[type].least || length > types[type].most)
		return ATTACH_INVALID;
	if (rest->len - ATTACH_HEADER_SIZE < length)
		return ATTACH_MORE;
	struct text payload = {rest->p + ATTACH_HEADER_SIZE, length};
	*ret = (struct attach_frame){.type = (enum attach_type)type};
	if (type == ATTACH_RESIZE) {
		ret->rows = (uint16_t)get_le(payload.p, 2);
		ret->cols = (uint16_t)get_le(payload.p + 2, 2);
	} else {
		ret->data = payload;
	}
	*rest = text_after(*rest, ATTACH_HEADER_SIZE + length);
	return ATTACH_FRAME;
}

void attach_frame_header(enum attach_type type, size_t length, char out[ATTACH_HEADER_SIZE])
{
	assert(length >= types[type].least && length <= types[type].most);
	out[0] = (char)types[type].byte;
	put_le(out + 1, 4, (uint32_t)length);
}

int attach_frame_encode(const struct attach_frame *f, struct str *out)
{
	char header[ATTACH_HEADER_SIZE], size[4];
	struct text payload = f->data;

	if (f->type == ATTACH_RESIZE) {
		put_le(size, 2, f->rows);
		put_le(size + 2, 2, f->cols);
		payload = (struct text){size, sizeof(size)};
	}
	attach_frame_header(f->type, payload.len, header);
	if (!str_reserve(out, sizeof(header) + payload.len) ||
		str_add(out, header, sizeof(header)) < 0)
		return -1;
	return str_add(out, payload.p, payload.len);
}
