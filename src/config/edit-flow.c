#include "config/edit-flow.h"

#include "config/edit-lines.h"
#include "config/edit-value.h"

static size_t skip_blanks(struct text file, size_t at)
{
	while (at < file.len && (file.p[at] == ' ' || file.p[at] == '\t'))
		at++;
	return at;
}

/* Behind the comma that follows on the same line, else 0. */
static size_t behind_comma(struct text file, size_t at)
{
	at = skip_blanks(file, at);
	return at < file.len && file.p[at] == ',' ? at + 1 : 0;
}

/* On its line there is nothing else but its comma and a comment. */
static bool alone(struct text file, const struct edit_flow_entry *e)
{
	size_t start = edit_lines_start(file, e->begin), comma = behind_comma(file, e->end);
	size_t rest = skip_blanks(file, comma ? comma : e->end);

	return skip_blanks(file, start) == e->begin &&
	       (rest == edit_lines_end(file, e->end) || file.p[rest] == '#');
}

bool edit_flow_separates(struct text file, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (!ascii_blank(file.p[i]) && file.p[i] != ',')
			return false;
	return true;
}

void edit_flow_remove(struct edit_splices *s, const struct edit_flow_entry *e)
{
	struct text file = s->file;
	size_t comma = behind_comma(file, e->end);

	if (alone(file, e))
		edit_splices_add(
			s, edit_lines_start(file, e->begin), edit_lines_next(file, e->end));
	else if (e->next && edit_flow_separates(file, e->end, e->next))
		edit_splices_add(s, e->begin, e->next);
	else if (!e->next && e->before && edit_flow_separates(file, e->before, e->begin))
		edit_splices_add(s, e->before, e->end);
	else
		edit_splices_add(s, e->begin, comma ? comma : e->end);
}

/* Behind an entry that has a line to itself: lines like that one. */
static void append_lines(
	struct edit_splices *s, const struct edit_flow_entry *e, char *const *values, size_t n)
{
	size_t at = edit_lines_end(s->file, e->end), indent = edit_lines_column(s->file, e->begin);
	bool comma = behind_comma(s->file, e->end) > 0;

	if (!comma)
		str_add_char(edit_splices_add(s, e->end, e->end), ',');
	struct str *out = edit_splices_add(s, at, at);
	for (size_t i = 0; i < n; i++) {
		edit_splices_line(s, out, indent);
		edit_value_write(out, text_of(values[i]));
		str_add_text(out, i + 1 < n || comma ? "," : "");
	}
}

void edit_flow_append(
	struct edit_splices *s, const struct edit_flow_entry *e, char *const *values, size_t n)
{
	if (alone(s->file, e)) {
		append_lines(s, e, values, n);
		return;
	}
	struct str *out = edit_splices_add(s, e->end, e->end);
	for (size_t i = 0; i < n; i++) {
		str_add_text(out, ", ");
		edit_value_write(out, text_of(values[i]));
	}
}

void edit_flow_prepend(
	struct edit_splices *s, const struct edit_flow_entry *e, char *const *values, size_t n)
{
	struct str *out = edit_splices_add(s, e->begin, e->begin);

	for (size_t i = 0; i < n; i++) {
		edit_value_write(out, text_of(values[i]));
		str_add_text(out, ", ");
	}
}
