/*
 * Positions count the bytes of a stream from its start. After a write everything before `shown` is
 * out; the bytes [shown, pos) are held. They are the end of the text, and held because it is a
 * proper prefix of a pattern, so there are never more than the longest pattern has. `spans` are
 * the covered parts of [shown, pos): in order, disjoint, not touching each other. When a covered
 * run lies across `shown`, its mark is out (`in_mark`) and what follows of it makes no other.
 */
#include "executor/runlog/redact.h"

#include <string.h>

#include "base/mem.h"
#include "executor/runlog/pattern-trie.h"

static const struct text mark = TEXT("[redacted]");

struct redactor {
	struct pattern_trie trie;
	size_t values_bytes;
};

struct span {
	uint64_t start, end;
};

struct redact_stream {
	struct redactor *redactor;
	uint32_t state;
	uint64_t pos;   /* bytes read */
	uint64_t shown; /* bytes decided */
	bool in_mark;   /* the byte before `shown` is covered */
	struct span *spans;
	size_t n_spans, spans_cap;
	char *held; /* the held bytes begin at held + held_from */
	size_t held_from, held_cap;
};

struct redactor *redactor_new(void)
{
	struct redactor *r = mem_alloc(sizeof(*r));

	r->trie = PATTERN_TRIE_INIT;
	return r;
}

void redactor_free(struct redactor *r)
{
	if (!r)
		return;
	pattern_trie_done(&r->trie);
	free(r);
}

bool redactor_empty(const struct redactor *r)
{
	return !r || r->trie.n_nodes == 0;
}

/* --- patterns of a value --- */

/* The text is a pattern already. */
static bool known(const struct pattern_trie *t, struct text value)
{
	uint32_t node = TRIE_ROOT;

	for (size_t i = 0; i < value.len; i++) {
		node = pattern_trie_child(t, node, (unsigned char)value.p[i]);
		if (node == TRIE_ROOT)
			return false;
	}
	return t->nodes[node].final;
}

static void add_plain(struct pattern_trie *t, struct text value)
{
	uint32_t node = TRIE_ROOT;

	for (size_t i = 0; i < value.len; i++)
		node = pattern_trie_add(t, node, (unsigned char)value.p[i]);
	pattern_trie_finish(t, node);
}

/* As a terminal shows it: every LF without a CR before it becomes CR LF. */
static void add_terminal_form(struct pattern_trie *t, struct text value)
{
	uint32_t node = TRIE_ROOT;

	for (size_t i = 0; i < value.len; i++) {
		if (value.p[i] == '\n' && (i == 0 || value.p[i - 1] != '\r'))
			node = pattern_trie_add(t, node, '\r');
		node = pattern_trie_add(t, node, (unsigned char)value.p[i]);
	}
	pattern_trie_finish(t, node);
}

/* A byte inside a JSON string; returns the length of what is written to out. */
static size_t json_escape(unsigned char c, char out[8])
{
	static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
	const char *at = c ? strchr(from, c) : NULL;

	if (at) {
		out[0] = '\\';
		out[1] = to[at - from];
		return 2;
	}
	if (c < 0x20)
		return (size_t)snprintf(out, 8, "\\u%04x", c);
	out[0] = (char)c;
	return 1;
}

static void add_json_form(struct pattern_trie *t, struct text value)
{
	uint32_t node = TRIE_ROOT;
	char escaped[8];

	for (size_t i = 0; i < value.len; i++) {
		size_t n = json_escape((unsigned char)value.p[i], escaped);
		for (size_t j = 0; j < n; j++)
			node = pattern_trie_add(t, node, (unsigned char)escaped[j]);
	}
	pattern_trie_finish(t, node);
}

/* Counts a value that was not there before. */
static int count_value(struct redactor *r, size_t size, struct error *err)
{
	if (size > REDACT_VALUE_MAX)
		return error_set(err, ERROR_SECRET_TOO_LARGE,
			"a secret of %zu bytes cannot be masked in output (at most %d)", size,
			REDACT_VALUE_MAX);
	if (r->values_bytes + size > REDACT_VALUES_MAX)
		return error_set(err, ERROR_SECRETS_TOO_LARGE,
			"the secrets to mask in output are larger than %d bytes together",
			REDACT_VALUES_MAX);
	r->values_bytes += size;
	return 0;
}

int redactor_add(struct redactor *r, struct text value, struct error *err)
{
	struct text bare = text_trim(value);

	if (bare.len > 0 && bare.len < REDACT_VALUE_MIN)
		return 1;
	if (bare.len == 0 || text_equal(bare, mark) || text_starts_nocase(bare, "<redacted"))
		return 0;
	if (!known(&r->trie, bare) && count_value(r, value.len, err) < 0)
		return -1;
	add_plain(&r->trie, bare);
	add_terminal_form(&r->trie, bare);
	if (utf8_valid(bare))
		add_json_form(&r->trie, bare);
	return 0;
}

/* --- streams --- */

struct redact_stream *redact_stream_new(struct redactor *r)
{
	struct redact_stream *s = mem_alloc(sizeof(*s));

	s->redactor = r;
	return s;
}

void redact_stream_free(struct redact_stream *s)
{
	if (!s)
		return;
	if (s->held)
		explicit_bzero(s->held, s->held_cap);
	free(s->held);
	free(s->spans);
	free(s);
}

static size_t held(const struct redact_stream *s)
{
	return (size_t)(s->pos - s->shown);
}

bool redact_stream_holding(const struct redact_stream *s)
{
	return held(s) > 0;
}

/* The bytes [start, end) are covered; end is the largest so far. */
static void cover(struct redact_stream *s, uint64_t start, uint64_t end)
{
	if (start < s->shown)
		start = s->shown;
	while (s->n_spans > 0 && s->spans[s->n_spans - 1].end >= start) {
		s->n_spans--;
		if (s->spans[s->n_spans].start < start)
			start = s->spans[s->n_spans].start;
	}
	if (s->n_spans == s->spans_cap) {
		s->spans_cap = s->spans_cap ? s->spans_cap * 2 : 8;
		s->spans = mem_grow(s->spans, s->spans_cap, sizeof(*s->spans));
	}
	s->spans[s->n_spans++] = (struct span){start, end};
}

/* Runs the automaton over the input, which begins at s->pos. */
static void scan(struct redact_stream *s, struct text in)
{
	const struct pattern_trie *t = &s->redactor->trie;
	uint32_t state = s->state;
	size_t i = 0;

	while (i < in.len) {
		if (state == TRIE_ROOT)
			i += pattern_trie_skip(t, in.p + i, in.len - i);
		if (i == in.len)
			break;
		state = pattern_trie_step(t, state, (unsigned char)in.p[i++]);
		uint32_t match = t->nodes[state].match;
		if (match > 0)
			cover(s, s->pos + i - match, s->pos + i);
	}
	s->state = state;
}

/* Up to where everything is decided, once the text ends at `pos`. */
static uint64_t decided(const struct redact_stream *s, uint64_t pos)
{
	uint64_t open = pattern_trie_open(&s->redactor->trie, s->state);
	uint64_t end = pos - open > s->shown ? pos - open : s->shown;

	for (size_t i = 0; i < s->n_spans && s->spans[i].start <= end; i++)
		if (s->spans[i].end > end)
			end = s->spans[i].end;
	return end;
}

/* Adds the bytes [start, end) as they are; the input begins at s->pos. */
static void show_plain(const struct redact_stream *s, struct text in, uint64_t start, uint64_t end,
	struct str *out)
{
	if (start < s->pos) {
		uint64_t stop = end < s->pos ? end : s->pos;
		str_add(out, s->held + s->held_from + (start - s->shown), stop - start);
		start = stop;
	}
	if (end > start)
		str_add(out, in.p + (start - s->pos), end - start);
}

/* Adds [s->shown, end) with its covered runs replaced, and forgets those. */
static void show(struct redact_stream *s, struct text in, uint64_t end, struct str *out)
{
	uint64_t at = s->shown;
	size_t done = 0;

	for (; done < s->n_spans && s->spans[done].start < end; done++) {
		const struct span *covered = &s->spans[done];
		show_plain(s, in, at, covered->start, out);
		if (covered->start > at || !s->in_mark)
			str_add(out, mark.p, mark.len);
		s->in_mark = true;
		at = covered->end;
	}
	show_plain(s, in, at, end, out);
	if (end > at)
		s->in_mark = false;
	s->n_spans -= done;
	if (done > 0)
		memmove(s->spans, s->spans + done, s->n_spans * sizeof(*s->spans));
}

/* Room for `more` bytes behind the `kept` held ones. */
static void reserve_held(struct redact_stream *s, size_t kept, size_t more)
{
	if (s->held_from + kept + more <= s->held_cap)
		return;
	if (kept + more <= s->held_cap / 2) {
		memmove(s->held, s->held + s->held_from, kept);
		s->held_from = 0;
		return;
	}
	size_t cap = 2 * (kept + more > s->redactor->trie.longest ? kept + more
								  : s->redactor->trie.longest);
	char *bigger = mem_alloc(cap);
	if (s->held) {
		memcpy(bigger, s->held + s->held_from, kept);
		explicit_bzero(s->held, s->held_cap);
		free(s->held);
	}
	s->held = bigger;
	s->held_cap = cap;
	s->held_from = 0;
}

/* [end, pos + in.len) is held from now on. */
static void hold(struct redact_stream *s, struct text in, uint64_t end)
{
	size_t kept = end < s->pos ? (size_t)(s->pos - end) : 0;
	struct text more = end > s->pos ? text_after(in, end - s->pos) : in;

	s->held_from = kept > 0 ? s->held_from + (end - s->shown) : 0;
	if (more.len > 0) {
		reserve_held(s, kept, more.len);
		memcpy(s->held + s->held_from + kept, more.p, more.len);
	}
	s->pos += in.len;
	s->shown = end;
}

struct text redact_stream_write(struct redact_stream *s, struct text in, struct str *scratch)
{
	struct pattern_trie *t = &s->redactor->trie;
	struct text out;

	str_reset(scratch);
	if (in.len == 0 || redactor_empty(s->redactor))
		return in;
	if (t->unlinked)
		pattern_trie_link(t);
	scan(s, in);
	uint64_t end = decided(s, s->pos + in.len);
	if (s->shown == s->pos && (s->n_spans == 0 || s->spans[0].start >= end)) {
		out = (struct text){in.p, end - s->pos};
		s->in_mark &= out.len == 0;
	} else {
		show(s, in, end, scratch);
		out = (struct text){str_text(scratch), scratch->len};
	}
	hold(s, in, end);
	return out;
}

struct text redact_stream_end(struct redact_stream *s, struct str *scratch)
{
	str_reset(scratch);
	show(s, (struct text){NULL, 0}, s->pos, scratch);
	s->state = TRIE_ROOT;
	s->pos = s->shown = 0;
	s->in_mark = false;
	return (struct text){str_text(scratch), scratch->len};
}

void redact_text(struct redactor *r, struct text in, struct str *out)
{
	AUTO_PTR(redact_stream) s = redact_stream_new(r);
	AUTO(str) scratch = STR_INIT(SIZE_MAX / 2);

	struct text shown = redact_stream_write(s, in, &scratch);
	str_add(out, shown.p, shown.len);
	shown = redact_stream_end(s, &scratch);
	str_add(out, shown.p, shown.len);
}
