/*
 * Hiding secret values in output (container-driver.md §12). A redactor holds the patterns of one
 * run, any number of streams use it, each in its own order; their whole output does not depend on
 * how the input was cut. Linear time. Without patterns a stream passes its input on, uncopied.
 *
 * The patterns lie in memory of their own: left out of core dumps, locked as far as the user's
 * limit allows, wiped at the end. A help against accidents, not a wall.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/text.h"

struct redactor;
struct redact_stream;

enum {
	REDACT_VALUE_MIN = 8,       /* bytes after stripping; shorter ones are not masked */
	REDACT_VALUE_MAX = 262144,  /* bytes of one value */
	REDACT_VALUES_MAX = 1048576 /* bytes of all values */
};

must_check struct redactor *redactor_new(void);
void redactor_free(struct redactor *r);
DEFINE_AUTO_PTR(redactor)
/*
 * Adds the patterns of one secret value; they count from the next redact_stream_write() of every
 * stream on. 0, or 1 = too short to be masked (blank ones and placeholders give 0), or -1:
 * `secrets_too_large`, `secret_too_large` (the message never holds the value).
 */
must_check int redactor_add(struct redactor *r, struct text value, struct error *err);
/* Nothing to hide, or no redactor (NULL): streams pass everything on. */
bool redactor_empty(const struct redactor *r);

/* A stream keeps a pointer to its redactor, which must live longer. */
must_check struct redact_stream *redact_stream_new(struct redactor *r);
void redact_stream_free(struct redact_stream *s);
DEFINE_AUTO_PTR(redact_stream)
/*
 * What may be shown once `in` was read too: a part of `in` itself, or the content of *scratch
 * (reset by every call; its maximum must be SIZE_MAX / 2, what it holds is bounded by in.len plus
 * what was held, times 11/9). May be empty. Valid until the next call.
 */
struct text redact_stream_write(struct redact_stream *s, struct text in, struct str *scratch);
/* The end of the stream: what is still held. The stream begins anew. */
struct text redact_stream_end(struct redact_stream *s, struct str *scratch);
/* Bytes are held back. */
bool redact_stream_holding(const struct redact_stream *s);

/* A whole text at once, for error texts and notes; appends to out. */
void redact_text(struct redactor *r, struct text in, struct str *out);
