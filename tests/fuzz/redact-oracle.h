/* What redaction must give (container-driver.md §12), computed the slow and plain way. */
#pragma once

#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"

enum { ORACLE_PATTERNS_MAX = 96, ORACLE_TEXT_MAX = 4096, ORACLE_PATTERN_MAX = 1024 };

struct oracle {
	struct str patterns[ORACLE_PATTERNS_MAX];
	size_t n;
};

static inline void oracle_done(struct oracle *o)
{
	for (size_t i = 0; i < o->n; i++)
		str_done(&o->patterns[i]);
}

static inline struct str *oracle_pattern(struct oracle *o)
{
	o->patterns[o->n] = STR_INIT(ORACLE_PATTERN_MAX);
	return &o->patterns[o->n++];
}

static inline void oracle_add_json(struct str *out, struct text value)
{
	for (size_t i = 0; i < value.len; i++) {
		char c = value.p[i];
		if (c == '"' || c == '\\')
			str_addf(out, "\\%c", c);
		else if (c == '\n')
			str_add_text(out, "\\n");
		else if (c == '\r')
			str_add_text(out, "\\r");
		else if (c == '\t')
			str_add_text(out, "\\t");
		else if (c == '\b')
			str_add_text(out, "\\b");
		else if (c == '\f')
			str_add_text(out, "\\f");
		else if ((unsigned char)c < 0x20)
			str_addf(out, "\\u00%02x", (unsigned)(unsigned char)c);
		else
			str_add_char(out, c);
	}
}

static inline void oracle_add(struct oracle *o, struct text value)
{
	struct text bare = text_trim(value);

	if (bare.len < 8 || text_is(bare, "[redacted]") || text_starts_nocase(bare, "<redacted"))
		return;
	str_add(oracle_pattern(o), bare.p, bare.len);
	struct str *terminal = oracle_pattern(o);
	for (size_t i = 0; i < bare.len; i++) {
		if (bare.p[i] == '\n' && (i == 0 || bare.p[i - 1] != '\r'))
			str_add_char(terminal, '\r');
		str_add_char(terminal, bare.p[i]);
	}
	if (utf8_valid(bare))
		oracle_add_json(oracle_pattern(o), bare);
}

static inline void oracle_cover(const struct oracle *o, struct text t, bool *covered)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct str *p = &o->patterns[i];
		for (size_t at = 0; at + p->len <= t.len; at++)
			if (memcmp(t.p + at, p->data, p->len) == 0)
				memset(covered + at, true, p->len);
	}
}

/* Bytes at the end of t that are a proper prefix of a pattern; the longest such end. */
static inline size_t oracle_open(const struct oracle *o, struct text t)
{
	size_t open = 0;

	for (size_t i = 0; i < o->n; i++)
		for (size_t n = open + 1; n < o->patterns[i].len && n <= t.len; n++)
			if (memcmp(t.p + t.len - n, o->patterns[i].data, n) == 0)
				open = n;
	return open;
}

/* All that may be shown after t was read (`ended`: and nothing follows). */
static inline void oracle_show(const struct oracle *o, struct text t, bool ended, struct str *out)
{
	auto_free bool *covered = mem_alloc(t.len);
	size_t stop = t.len - (ended ? 0 : oracle_open(o, t));

	oracle_cover(o, t, covered);
	while (stop < t.len && covered[stop])
		stop++;
	for (size_t i = 0; i < stop; i++) {
		if (!covered[i])
			str_add_char(out, t.p[i]);
		else if (i == 0 || !covered[i - 1])
			str_add_text(out, "[redacted]");
	}
}
