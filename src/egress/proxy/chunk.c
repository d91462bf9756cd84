#include "egress/proxy/chunk.h"

#include <stdio.h>

enum { LINE_ROOM = 32 }; /* what one byte read can make of framing */

static int hex_value(char c)
{
	if (ascii_digit(c))
		return c - '0';
	c = ascii_to_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool droppable(struct chunks *c, char byte, size_t max)
{
	return ++c->dropped <= max && (!ascii_control(byte) || byte == '\t');
}

/* The line of a size is over. */
static void begin_data(struct chunks *c, struct str *out)
{
	c->dropped = 0;
	if (c->left == 0) {
		c->state = CHUNK_TRAILER;
		return;
	}
	c->state = CHUNK_DATA;
	if (!c->bare)
		str_addf(out, "%llx\r\n", (unsigned long long)c->left);
}

static bool read_size(struct chunks *c, char byte)
{
	int value = hex_value(byte);

	if (value >= 0) {
		c->left = c->left << 4 | (unsigned)value;
		return ++c->digits <= CHUNK_DIGITS_MAX;
	}
	if (c->digits == 0)
		return false;
	c->dropped = 0;
	c->state = byte == '\r' ? CHUNK_SIZE_LF : CHUNK_EXTENSION;
	return byte == '\r' || (byte == ';' && droppable(c, byte, CHUNK_EXTENSION_MAX));
}

static bool read_extension(struct chunks *c, char byte)
{
	if (byte == '\r') {
		c->state = CHUNK_SIZE_LF;
		return true;
	}
	return droppable(c, byte, CHUNK_EXTENSION_MAX);
}

/* The first byte of a trailer's line, or one inside it. */
static bool read_trailer(struct chunks *c, char byte)
{
	bool first = c->state == CHUNK_TRAILER;

	if (byte == '\r') {
		c->state = first ? CHUNK_LAST_LF : CHUNK_TRAILER_LF;
		return first || ++c->dropped <= CHUNK_TRAILERS_MAX;
	}
	c->state = CHUNK_TRAILER_LINE;
	/* A folded line is refused as it is in a head. */
	return !(first && (byte == ' ' || byte == '\t')) && droppable(c, byte, CHUNK_TRAILERS_MAX);
}

/* A line feed, which stands behind each carriage return. */
static bool read_line_end(struct chunks *c, char byte, struct str *out)
{
	if (byte != '\n')
		return false;
	switch (c->state) {
	case CHUNK_SIZE_LF:
		begin_data(c, out);
		return true;
	case CHUNK_DATA_LF:
		*c = (struct chunks){.state = CHUNK_SIZE, .bare = c->bare};
		return c->bare || str_add_text(out, "\r\n") == 0;
	case CHUNK_TRAILER_LF:
		c->state = CHUNK_TRAILER;
		return ++c->dropped <= CHUNK_TRAILERS_MAX;
	default:
		c->state = CHUNK_END;
		return c->bare || str_add_text(out, "0\r\n\r\n") == 0;
	}
}

static bool read_byte(struct chunks *c, char byte, struct str *out)
{
	switch (c->state) {
	case CHUNK_SIZE:
		return read_size(c, byte);
	case CHUNK_EXTENSION:
		return read_extension(c, byte);
	case CHUNK_DATA_CR:
		c->state = CHUNK_DATA_LF;
		return byte == '\r';
	case CHUNK_TRAILER:
	case CHUNK_TRAILER_LINE:
		return read_trailer(c, byte);
	default:
		return read_line_end(c, byte, out);
	}
}

/* How many bytes of data were passed on. */
static size_t read_data(struct chunks *c, struct text bytes, struct str *out)
{
	size_t room = out->max - out->len, n = bytes.len < c->left ? bytes.len : (size_t)c->left;

	n = n < room ? n : room;
	str_add(out, bytes.p, n);
	c->left -= n;
	if (c->left == 0)
		c->state = CHUNK_DATA_CR;
	return n;
}

bool chunk_read(struct chunks *c, struct text bytes, size_t *ret_used, struct str *out)
{
	size_t used = 0;

	while (used < bytes.len && c->state != CHUNK_END && out->max - out->len > LINE_ROOM) {
		if (c->state == CHUNK_DATA) {
			used += read_data(c, text_after(bytes, used), out);
			continue;
		}
		if (!read_byte(c, bytes.p[used], out))
			return false;
		used++;
	}
	*ret_used = used;
	return true;
}
