#include "yaml/problem.h"

#include <assert.h>
#include <stdarg.h>

#include "base/json.h"
#include "base/mem.h"

static const struct {
	const char *text;
	const char *remedy;
} codes[PROBLEM_CODE_COUNT] = {
	[PROBLEM_NONE] = {"", ""},
#define PROBLEM(id, code_text, default_remedy) [PROBLEM_##id] = {code_text, default_remedy},
#include "yaml/problem-list.h"
#undef PROBLEM
};

const char *problem_code_text(enum problem_code code)
{
	assert((size_t)code < PROBLEM_CODE_COUNT);
	return codes[code].text;
}

static void problem_done(struct problem *p)
{
	free(p->path);
	free(p->message);
	free(p->remedy);
}

void problems_done(struct problems *ps)
{
	for (size_t i = 0; i < ps->n; i++)
		problem_done(&ps->v[i]);
	free(ps->v);
	*ps = PROBLEMS_INIT(ps->max);
}

void problems_clear(struct problems *ps)
{
	problems_done(ps);
}

static int compare(const void *a, const void *b)
{
	const struct problem *x = a, *y = b;

	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	if (x->at.column != y->at.column)
		return x->at.column < y->at.column ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void sort(struct problems *ps)
{
	if (ps->n > 1)
		qsort(ps->v, ps->n, sizeof(*ps->v), compare);
}

/*
 * Keeps the max + 1 first ones. Done when twice as many have come, so that a list of any length
 * costs n log n and little memory.
 */
static void shrink(struct problems *ps)
{
	sort(ps);
	while (ps->n > ps->max + 1)
		problem_done(&ps->v[--ps->n]);
	ps->full = ps->n == ps->max + 1;
	ps->kept = false;
}

bool problems_wants(const struct problems *ps, struct position at)
{
	if (!ps->full)
		return true;
	/* Until the next shrink() v[max] is the last of the sorted part. */
	const struct position last = ps->v[ps->max].at;
	return at.line < last.line || (at.line == last.line && at.column < last.column);
}

static char *cut(char *text)
{
	size_t n = strlen(text);

	if (n > PROBLEM_TEXT_MAX)
		text[utf8_cut((struct text){text, n}, PROBLEM_TEXT_MAX)] = '\0';
	return text;
}

/* A record with place and path, or NULL when it would not be listed. */
static struct problem *append(struct problems *ps, struct position at, const char *path)
{
	ps->total++;
	ps->kept = problems_wants(ps, at);
	if (!ps->kept)
		return NULL;
	if (ps->n >= 2 * (ps->max + 1)) {
		shrink(ps);
		ps->kept = problems_wants(ps, at);
		if (!ps->kept)
			return NULL;
	}
	if (ps->n == ps->cap) {
		ps->cap = ps->cap ? ps->cap * 2 : 8;
		ps->v = mem_grow(ps->v, ps->cap, sizeof(*ps->v));
	}
	struct problem *p = &ps->v[ps->n++];
	*p = (struct problem){.path = mem_strdup(path), .at = at, .order = ps->total};
	return p;
}

void problems_add(struct problems *ps, enum problem_code code, struct position at, const char *path,
	const char *fmt, ...)
{
	struct problem *p = append(ps, at, path);
	va_list ap;

	if (!p)
		return;
	p->code = problem_code_text(code);
	p->remedy = mem_strdup(codes[code].remedy);
	va_start(ap, fmt);
	p->message = cut(mem_vprintf(fmt, ap));
	va_end(ap);
}

void problems_add_error(
	struct problems *ps, struct position at, const char *path, const struct error *err)
{
	struct problem *p = append(ps, at, path);

	if (!p)
		return;
	p->code = error_code_text(err->code);
	p->message = cut(mem_strdup(err->message));
	p->remedy = cut(mem_strdup(error_remedy(err)));
}

void problems_set_remedy(struct problems *ps, const char *fmt, ...)
{
	va_list ap;

	if (!ps->kept)
		return;
	struct problem *p = &ps->v[ps->n - 1];
	free(p->remedy);
	va_start(ap, fmt);
	p->remedy = cut(mem_vprintf(fmt, ap));
	va_end(ap);
}

void problems_move(struct problems *to, struct problems *from)
{
	for (size_t i = 0; i < from->n; i++) {
		struct problem *p = append(to, from->v[i].at, from->v[i].path);
		if (!p)
			continue;
		p->code = from->v[i].code;
		p->message = TAKE_PTR(from->v[i].message);
		p->remedy = TAKE_PTR(from->v[i].remedy);
	}
	problems_clear(from);
}

void problems_finish(struct problems *ps)
{
	shrink(ps);
	if (!ps->full)
		return;
	struct problem *p = &ps->v[ps->max];
	struct position at = p->at;
	problem_done(p);
	*p = (struct problem){
		.path = mem_strdup(""),
		.at = at,
		.code = problem_code_text(PROBLEM_TOO_MANY_ERRORS),
		.message = mem_printf("%zu more are not listed", ps->total - ps->max),
		.remedy = mem_strdup(codes[PROBLEM_TOO_MANY_ERRORS].remedy),
	};
}

bool problems_has(const struct problems *ps, enum problem_code code)
{
	for (size_t i = 0; i < ps->n; i++)
		if (strcmp(ps->v[i].code, problem_code_text(code)) == 0)
			return true;
	return false;
}

static json_t *number_or_null(unsigned n)
{
	return n ? json_integer(n) : json_null();
}

json_t *problem_to_json(const struct problem *p)
{
	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}", "path", json_from_string(p->path),
		"line", number_or_null(p->at.line), "column", number_or_null(p->at.column), "code",
		p->code, "message", json_from_string(p->message), "remediation",
		json_from_string(p->remedy));
}

json_t *problems_to_json(const struct problems *ps)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ps->n; i++)
		json_array_append_new(list, problem_to_json(&ps->v[i]));
	return list;
}

void problems_summary(const struct problems *ps, const char *file, struct str *out)
{
	assert(ps->n > 0);
	const struct problem *p = &ps->v[0];

	str_add_text(out, file);
	if (p->at.line)
		str_addf(out, ":%u:%u", p->at.line, p->at.column);
	str_add_text(out, ": ");
	if (p->path[0])
		str_addf(out, "%s: ", p->path);
	size_t more = ps->total - 1;
	auto_free char *tail =
		more ? mem_printf(" (and %zu more error%s)", more, more == 1 ? "" : "s")
		     : mem_strdup("");
	size_t room = out->max - out->len, message = strlen(p->message);
	if (message + strlen(tail) > room)
		message = room > strlen(tail) ? utf8_cut((struct text){p->message, message},
							room - strlen(tail))
					      : 0;
	str_add(out, p->message, message);
	str_add_text(out, tail);
}
