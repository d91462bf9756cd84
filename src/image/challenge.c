/*
 * A line is a list: elements separated by commas, empty ones allowed. An element is a scheme, a
 * scheme and its first parameter, or a further parameter of the scheme before; which one it is
 * shows behind its first word.
 */
#include "image/challenge.h"

#include "base/enum-text.h"
#include "base/mem.h"

static const char *const scheme_names[] = {
	[CHALLENGE_BEARER] = "bearer",
	[CHALLENGE_BASIC] = "basic",
};
static_assert(ARRAY_SIZE(scheme_names) == CHALLENGE_SCHEME_COUNT, "a name for every scheme");

const char *challenge_scheme_text(enum challenge_scheme s)
{
	return scheme_names[s];
}

void challenge_done(struct challenge *c)
{
	free(c->realm);
	free(c->service);
	*c = (struct challenge){.realm = NULL};
}

/* One line while it is read. `names` holds the parameters of the challenge, each behind a comma. */
struct line {
	struct text rest;
	struct str names;
	bool any;         /* a scheme was read */
	bool bearer;      /* it is Bearer */
	struct str realm; /* of the challenge that is read */
	struct str service;
	struct challenge found; /* the first Bearer of the line that has a realm */
	bool basic;
};

static void line_done(struct line *l)
{
	str_done(&l->names);
	str_done(&l->realm);
	str_done(&l->service);
	challenge_done(&l->found);
}

static void skip_blanks(struct text *t)
{
	while (t->len > 0 && (t->p[0] == ' ' || t->p[0] == '\t'))
		*t = text_after(*t, 1);
}

static bool at(const struct text *t, char c)
{
	return t->len > 0 && t->p[0] == c;
}

static struct text take_token(struct text *t)
{
	size_t n = 0;

	while (n < t->len && ascii_word(t->p[n], "!#$%&'*+-.^_`|~"))
		n++;
	struct text token = {t->p, n};
	*t = text_after(*t, n);
	return token;
}

/* Behind the opening quote. */
static bool take_quoted(struct text *t, struct str *ret)
{
	while (t->len > 0 && t->p[0] != '"') {
		if (t->p[0] == '\\')
			*t = text_after(*t, 1);
		if (t->len == 0 || (ascii_control(t->p[0]) && t->p[0] != '\t'))
			return false;
		str_add_char(ret, t->p[0]);
		*t = text_after(*t, 1);
	}
	if (t->len == 0)
		return false;
	*t = text_after(*t, 1);
	return true;
}

static bool take_value(struct text *t, struct str *ret)
{
	if (at(t, '"')) {
		*t = text_after(*t, 1);
		return take_quoted(t, ret);
	}
	struct text token = take_token(t);
	str_add(ret, token.p, token.len);
	return token.len > 0;
}

/* False: the challenge has it already. */
static bool remember_name(struct line *l, struct text name)
{
	AUTO(str) entry = STR_INIT(CHALLENGE_MAX_BYTES + 2);

	str_add_char(&entry, ',');
	for (size_t i = 0; i < name.len; i++)
		str_add_char(&entry, ascii_to_lower(name.p[i]));
	str_add_char(&entry, ',');
	if (text_has((struct text){str_text(&l->names), l->names.len}, str_text(&entry)))
		return false;
	str_add(&l->names, entry.data, entry.len);
	return true;
}

/* Behind the name and blanks: `=` and the value. */
static bool take_parameter(struct line *l, struct text name)
{
	AUTO(str) value = STR_INIT(CHALLENGE_MAX_BYTES);

	if (name.len == 0 || !at(&l->rest, '=') || !l->any || !remember_name(l, name))
		return false;
	l->rest = text_after(l->rest, 1);
	skip_blanks(&l->rest);
	if (!take_value(&l->rest, &value))
		return false;
	struct str *to = text_is_nocase(name, "realm")     ? &l->realm
			 : text_is_nocase(name, "service") ? &l->service
							   : NULL;
	if (to)
		str_add(to, str_text(&value), value.len);
	return true;
}

/* The challenge that was read is complete. */
static void end_challenge(struct line *l)
{
	if (l->any && l->bearer && l->realm.len > 0 && !l->found.realm) {
		l->found.realm = mem_strdup(str_text(&l->realm));
		l->found.service = mem_strdup(str_text(&l->service));
	}
	str_reset(&l->names);
	str_reset(&l->realm);
	str_reset(&l->service);
}

static void begin_challenge(struct line *l, struct text scheme)
{
	end_challenge(l);
	l->any = true;
	l->bearer = text_is_nocase(scheme, "bearer");
	l->basic = l->basic || text_is_nocase(scheme, "basic");
}

static bool take_element(struct line *l)
{
	struct text word = take_token(&l->rest);
	const char *behind = l->rest.p;

	skip_blanks(&l->rest);
	if (at(&l->rest, '='))
		return take_parameter(l, word);
	if (word.len == 0)
		return false;
	begin_challenge(l, word);
	if (l->rest.len == 0 || at(&l->rest, ','))
		return true;
	if (l->rest.p == behind)
		return false; /* no blank between the scheme and what follows */
	word = take_token(&l->rest);
	skip_blanks(&l->rest);
	return take_parameter(l, word);
}

static bool read_line(struct line *l)
{
	for (skip_blanks(&l->rest); l->rest.len > 0; skip_blanks(&l->rest)) {
		if (!at(&l->rest, ',')) {
			if (!take_element(l))
				return false;
			skip_blanks(&l->rest);
			if (l->rest.len > 0 && !at(&l->rest, ','))
				return false;
		}
		if (l->rest.len > 0)
			l->rest = text_after(l->rest, 1);
	}
	end_challenge(l);
	return true;
}

/* 1: Bearer, *ret is filled; 0: none in this line, *basic is set if there is a Basic. */
static int judge_line(struct text text, struct challenge *ret, bool *basic)
{
	AUTO(line)
	l = {.rest = text,
		.names = STR_INIT(2 * CHALLENGE_MAX_BYTES),
		.realm = STR_INIT(CHALLENGE_MAX_BYTES),
		.service = STR_INIT(CHALLENGE_MAX_BYTES)};

	if (!read_line(&l))
		return 0;
	*basic = *basic || l.basic;
	if (!l.found.realm)
		return 0;
	*ret = l.found;
	l.found = (struct challenge){.realm = NULL};
	return 1;
}

int challenge_choose(const struct text *lines, size_t n, struct challenge *ret, struct error *err)
{
	bool basic = false;
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += lines[i].len;
	if (total > CHALLENGE_MAX_BYTES)
		return error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			"the registry's WWW-Authenticate has more than %d bytes",
			CHALLENGE_MAX_BYTES);
	for (size_t i = 0; i < n; i++)
		if (judge_line(lines[i], ret, &basic) > 0)
			return 0;
	if (!basic)
		return error_set(err, ERROR_REGISTRY_BAD_ANSWER,
			"the registry asks for a login of no known kind");
	*ret = (struct challenge){.scheme = CHALLENGE_BASIC};
	return 0;
}
