/*
 * Where in the bytes of a YAML text its keys and values lie, for edits that keep everything else.
 * Only for text that the strict reader accepts (yaml/reader.h): no anchors, tags, aliases.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum span_kind { SPAN_SCALAR, SPAN_SEQUENCE, SPAN_MAPPING };

/* Half-open range of bytes. Of a block collection: from its first to its last value. */
struct span {
	enum span_kind kind;
	bool flow;    /* a collection in brackets */
	bool in_flow; /* stands in one */
	bool null;    /* a plain null, or nothing at all (begin == end, behind the colon) */
	size_t begin, end;
	struct text text;   /* of a scalar, decoded */
	char *storage;      /* of text */
	struct span *first; /* first item, or first key */
	struct span *last;
	struct span *next;    /* next item, or next key */
	struct span *value;   /* of a key */
	struct span *chained; /* all of them, for spans_done() */
};

struct spans {
	struct span *root; /* NULL = an empty document, or none */
	struct span *all;
};
void spans_done(struct spans *s);

/* 0, or -1: it is not such a text (nothing is told; the reader has said why). */
int spans_read(struct text bytes, struct spans *ret);
/* The key of a mapping; NULL if there is none. */
struct span *span_key(const struct span *mapping, struct text name);
