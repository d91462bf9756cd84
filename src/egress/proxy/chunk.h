/*
 * Chunk framing of bodies (network.md §13.2): read strictly and written anew, so that whoever gets
 * it cannot read it in another way. Extensions and trailers are dropped. Pure.
 */
#pragma once

#include "base/str.h"
#include "base/text.h"

enum {
	CHUNK_DIGITS_MAX = 15,
	CHUNK_EXTENSION_MAX = 256,
	CHUNK_TRAILERS_MAX = 8192,
};

enum chunk_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER, /* at the beginning of a line */
	CHUNK_TRAILER_LINE,
	CHUNK_TRAILER_LF,
	CHUNK_LAST_LF,
	CHUNK_END,
};

struct chunks {
	enum chunk_state state;
	bool bare;       /* write the data only, for a reader that does not know chunks */
	uint64_t left;   /* of this chunk */
	unsigned digits; /* read of its size */
	size_t dropped;  /* of its extension, or of the trailers */
};

/*
 * Reads bytes, as many as out has room for, and appends what is passed on. *ret_used: how many were
 * read; fewer than there are once the body is over (c->state is CHUNK_END), or where out is full,
 * which is to be emptied. False: this is no chunked body; what was appended must not be passed on.
 */
bool chunk_read(struct chunks *c, struct text bytes, size_t *ret_used, struct str *out);
