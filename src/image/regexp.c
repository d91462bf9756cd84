/*
 * One pass from left to right, with a stack of open groups. An item is a literal, an escape, any,
 * a class or a group; what was read last decides whether a quantifier may follow. What anchoring
 * depends on is noted on the way and judged at the end, once the whole text is known to be of the
 * language.
 */
#include "image/regexp.h"

#include "base/num.h"

enum { DEPTH_MAX = 8, COUNT_MAX = 1000 };

/* What stands in front of the place that is read. */
enum before {
	NOTHING, /* begin of the text or of an alternative, an anchor */
	ITEM,
	ANY, /* an item that is `.` */
	GROUP,
	QUANTIFIED,
};

struct reading {
	struct text whole;
	size_t at;
	size_t depth;
	bool counted[DEPTH_MAX + 1]; /* by depth: the group holds a counted quantifier */
	bool group_counted;          /* of the group that was closed last */
	enum before before;
	bool literals;      /* one stands outside classes */
	bool first_literal; /* the item behind the first byte is one */
	bool stray_anchor;  /* neither `^` as the first nor `$` as the last byte */
	bool open_bar;      /* a `|` outside of groups */
	bool ends_with_end; /* the last thing read is a `$` outside of groups */
	bool ends_with_any; /* the last thing read is `.` with `*` or `+` outside of groups */
};

static bool left(const struct reading *r)
{
	return r->at < r->whole.len;
}

static char peek(const struct reading *r)
{
	return left(r) ? r->whole.p[r->at] : '\0';
}

static bool take(struct reading *r, char c)
{
	if (peek(r) != c || !left(r))
		return false;
	r->at++;
	return true;
}

static bool is_class_escape(char c)
{
	return c != '\0' && strchr("dDwWsS", c) != NULL;
}

/* Behind the backslash. */
static bool take_escape(struct reading *r, bool *ret_set)
{
	char c = peek(r);

	if (!left(r) || (ascii_alnum(c) && !is_class_escape(c)))
		return false;
	*ret_set = is_class_escape(c);
	r->at++;
	return true;
}

/* ---- Classes ---- */

struct member {
	char byte;
	bool set;  /* \d and the like */
	bool dash; /* an unescaped `-` */
};

static bool take_member(struct reading *r, struct member *ret)
{
	char c = peek(r);

	if (!left(r) || c == '[' || c == ']')
		return false;
	r->at++;
	*ret = (struct member){.byte = c, .dash = c == '-'};
	if (c == '\\') {
		ret->byte = peek(r);
		return take_escape(r, &ret->set);
	}
	return true;
}

/* A member that is not the last, with a dash behind it: the begin of a range. */
static bool begins_range(const struct reading *r)
{
	return peek(r) == '-' && r->at + 1 < r->whole.len && r->whole.p[r->at + 1] != ']';
}

static bool take_range_end(struct reading *r, const struct member *from)
{
	struct member to;

	r->at++;
	if (!take_member(r, &to) || from->set || to.set)
		return false;
	/* A dash that ends a range is the last member. */
	return from->byte <= to.byte && (!to.dash || peek(r) == ']');
}

/* Behind the opening bracket. */
static bool take_class(struct reading *r)
{
	size_t members = 0;

	take(r, '^');
	while (left(r) && peek(r) != ']') {
		struct member m;
		size_t begin = r->at;
		if (!take_member(r, &m))
			return false;
		if (m.dash && members > 0 && peek(r) != ']') {
			r->at = begin;
			return false;
		}
		if (begins_range(r) && !take_range_end(r, &m))
			return false;
		members++;
	}
	return members > 0 && take(r, ']');
}

/* ---- Groups ---- */

static bool open_group(struct reading *r)
{
	if (r->depth == DEPTH_MAX)
		return false;
	if (take(r, '?') && !take(r, ':'))
		return false;
	r->counted[++r->depth] = false;
	r->before = NOTHING;
	return true;
}

static bool close_group(struct reading *r)
{
	if (r->depth == 0)
		return false;
	r->group_counted = r->counted[r->depth--];
	r->counted[r->depth] |= r->group_counted;
	r->before = GROUP;
	return true;
}

/* ---- Quantifiers ---- */

static bool take_number(struct reading *r, uint64_t *ret)
{
	size_t begin = r->at;

	while (ascii_digit(peek(r)))
		r->at++;
	struct text digits = {r->whole.p + begin, r->at - begin};
	return num_parse(digits, COUNT_MAX, ret) == NUM_OK;
}

/* Behind the opening brace. */
static bool take_count(struct reading *r)
{
	uint64_t least, most;

	if (!take_number(r, &least))
		return false;
	most = least;
	if (take(r, ',') && peek(r) != '}' && !take_number(r, &most))
		return false;
	if (most < least || !take(r, '}') || (r->before == GROUP && r->group_counted))
		return false;
	r->counted[r->depth] = true;
	return true;
}

/* c was read: `*`, `+`, `?` or `{`. */
static bool take_quantifier(struct reading *r, char c)
{
	if (r->before == NOTHING || r->before == QUANTIFIED)
		return false;
	if (c == '{' && !take_count(r))
		return false;
	take(r, '?');
	r->ends_with_any = r->depth == 0 && r->before == ANY && (c == '*' || c == '+');
	r->before = QUANTIFIED;
	return true;
}

/* ---- The whole ---- */

static void note_anchor(struct reading *r, size_t begin, char c)
{
	bool first = c == '^' && begin == 0;
	bool last = c == '$' && begin + 1 == r->whole.len && r->depth == 0;

	r->stray_anchor |= !first && !last;
	r->ends_with_end = last;
	r->before = NOTHING;
}

static bool take_literal(struct reading *r, size_t begin, char c)
{
	bool set = false;

	if (c == '\\' && !take_escape(r, &set))
		return false;
	r->literals |= !set;
	r->first_literal |= begin == 1 && !set;
	r->before = ITEM;
	return true;
}

static bool take_next(struct reading *r)
{
	size_t begin = r->at;
	char c = r->whole.p[r->at++];

	r->ends_with_any = false;
	switch (c) {
	case '^':
	case '$':
		note_anchor(r, begin, c);
		return true;
	case '|':
		r->open_bar |= r->depth == 0;
		r->before = NOTHING;
		return true;
	case '(':
		return open_group(r);
	case ')':
		return close_group(r);
	case '[':
		r->before = ITEM;
		return take_class(r);
	case '*':
	case '+':
	case '?':
	case '{':
		return take_quantifier(r, c);
	case '.':
		r->before = ANY;
		return true;
	case ']':
	case '}':
		return false;
	default:
		return take_literal(r, begin, c);
	}
}

static bool bytes_fit(struct text t, size_t *ret_at)
{
	for (*ret_at = 0; *ret_at < t.len; ++*ret_at)
		if (t.p[*ret_at] < 0x21 || t.p[*ret_at] > 0x7e)
			return false;
	return t.len > 0;
}

enum regexp_fault regexp_judge(struct text t, struct regexp_facts *ret)
{
	struct reading r = {.whole = t};

	*ret = (struct regexp_facts){0};
	if (t.len > REGEXP_MAX_BYTES)
		return REGEXP_TOO_LONG;
	if (!bytes_fit(t, &ret->at))
		return REGEXP_MALFORMED;
	while (left(&r))
		if (!take_next(&r)) {
			ret->at = r.at > 0 ? r.at - 1 : 0;
			return REGEXP_MALFORMED;
		}
	ret->at = t.len;
	if (r.depth > 0)
		return REGEXP_MALFORMED;
	if (t.p[0] != '^' || r.stray_anchor || r.open_bar || (!r.ends_with_end && !r.ends_with_any))
		return REGEXP_NOT_ANCHORED;
	if (!r.literals)
		return REGEXP_MATCHES_EVERYTHING;
	ret->broad = !r.first_literal;
	return REGEXP_OK;
}
