#include "config/edit-splice.h"

#include "base/mem.h"
#include "config/config.h"
#include "config/edit-lines.h"

void edit_splices_done(struct edit_splices *s)
{
	for (size_t i = 0; i < s->n; i++)
		str_done(&s->v[i].text);
	free(s->v);
	s->v = NULL;
	s->n = 0;
}

struct str *edit_splices_add(struct edit_splices *s, size_t begin, size_t end)
{
	s->v = mem_grow(s->v, s->n + 1, sizeof(*s->v));
	s->v[s->n] = (struct edit_splice){begin, end, STR_INIT(CONFIG_MAX_BYTES)};
	return &s->v[s->n++].text;
}

/* In the middle of a text, where nothing is a comment. */
static bool in_text(const struct span *s, size_t at)
{
	if (s->kind == SPAN_SCALAR)
		return s->begin < at && at < s->end;
	for (const struct span *one = s->first; one; one = one->next)
		if (in_text(one->value ? one->value : one, at))
			return true;
	return false;
}

void edit_splices_drop(struct edit_splices *s, size_t begin, const struct span *value)
{
	struct text file = s->file;
	size_t end = edit_lines_next(file, value->end);

	for (size_t at = edit_lines_start(file, begin); at < end;) {
		size_t next = edit_lines_next(file, at);
		bool says = !edit_lines_blank(file, at) && !edit_lines_comment(file, at);
		if (says || in_text(value, at))
			edit_splices_add(s, at, next);
		at = next;
	}
}

void edit_splices_line(const struct edit_splices *s, struct str *out, size_t indent)
{
	str_add_text(out, s->newline);
	for (size_t i = 0; i < indent; i++)
		str_add_char(out, ' ');
}

static bool in_order(const struct edit_splices *s)
{
	size_t at = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].begin < at || s->v[i].end < s->v[i].begin)
			return false;
		at = s->v[i].end;
	}
	return true;
}

int edit_splices_apply(const struct edit_splices *s, struct str *ret)
{
	size_t at = 0;
	bool full = false;

	for (size_t i = 0; in_order(s) && i < s->n; i++) {
		const struct edit_splice *one = &s->v[i];
		full |= str_full(&one->text);
		str_add(ret, s->file.p + at, one->begin - at);
		str_add(ret, str_text(&one->text), one->text.len);
		at = one->end;
	}
	str_add(ret, s->file.p + at, s->file.len - at);
	return full || str_full(ret) ? -1 : 0;
}
