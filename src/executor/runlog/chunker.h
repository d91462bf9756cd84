/*
 * Cutting a stream of output into payloads of 1-65536 bytes that do not split a UTF-8 sequence
 * which more bytes could complete (container-driver.md §11.2). Pure; one per stream. Time is the
 * caller's: while chunker_holding(), flush when 50 ms have passed since the last feed, or at the
 * end of the stream.
 *
 *     struct text rest = what was read;
 *     while (chunker_next(&c, &rest, parts))
 *             log_writer_append(w, stream, now, parts, 2);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum { CHUNKER_HOLD_MS = 50, CHUNKER_HELD_MAX = 3 };

struct chunker {
	char held[CHUNKER_HELD_MAX]; /* the beginning of a sequence */
	size_t n_held;
	char out[CHUNKER_HELD_MAX]; /* parts[0] of the last answer */
};
#define CHUNKER_INIT ((struct chunker){0})

/*
 * The next payload as two parts (either may be empty, not both), taken off *rest; valid until the
 * next call and as long as the bytes of *rest. False: rest is used up; at most 3 bytes are held.
 */
bool chunker_next(struct chunker *c, struct text *rest, struct text parts[2]);
/* Gives what is held as a payload, valid until the next call; false: nothing is. */
bool chunker_flush(struct chunker *c, struct text *ret);

static inline bool chunker_holding(const struct chunker *c)
{
	return c->n_held > 0;
}
