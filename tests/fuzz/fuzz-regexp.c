/*
 * An accepted pattern is anchored: read by a second, simpler reader, it begins with `^`, has no
 * other anchor and no bar outside of groups and classes, and closes what it opens.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "image/regexp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct scan {
	size_t depth, deepest;
	bool class;
	size_t anchors, bars, literals;
};

static void scan_byte(struct scan *s, char c)
{
	if (s->class) {
		s->class = c != ']';
		assert(c != '[');
		return;
	}
	switch (c) {
	case '[':
		s->class = true;
		break;
	case '(':
		s->depth++;
		s->deepest = s->depth > s->deepest ? s->depth : s->deepest;
		break;
	case ')':
		assert(s->depth > 0);
		s->depth--;
		break;
	case '^':
	case '$':
		assert(s->depth == 0);
		s->anchors++;
		break;
	case '|':
		s->bars += s->depth == 0;
		break;
	default:
		s->literals++;
	}
}

static void check_accepted(const char *p, size_t size)
{
	struct scan s = {.depth = 0};
	bool escaped = false;

	assert(size > 0 && size <= REGEXP_MAX_BYTES && p[0] == '^');
	for (size_t i = 0; i < size; i++) {
		assert(p[i] >= 0x21 && p[i] <= 0x7e);
		bool escape = !escaped && p[i] == '\\';
		if (escaped)
			s.literals++;
		else if (!escape)
			scan_byte(&s, p[i]);
		escaped = escape;
	}
	assert(!escaped && !s.class && s.depth == 0 && s.deepest <= 8);
	assert(s.bars == 0 && s.literals > 0);
	bool dollar = s.anchors == 2;
	assert(dollar ? p[size - 1] == '$' : s.anchors == 1 && memchr("*+?", p[size - 1], 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct regexp_facts facts;
	/* A copy of exactly this size: one byte too far is seen. */
	char *copy = malloc(size ? size : 1);

	assert(copy);
	if (size > 0)
		memcpy(copy, data, size);
	enum regexp_fault fault = regexp_judge((struct text){copy, size}, &facts);
	assert(facts.at <= size);
	assert(!facts.broad || fault == REGEXP_OK);
	assert((fault == REGEXP_TOO_LONG) == (size > REGEXP_MAX_BYTES));
	if (fault == REGEXP_OK)
		check_accepted(copy, size);
	free(copy);
	return 0;
}
