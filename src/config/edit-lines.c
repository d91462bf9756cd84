#include "config/edit-lines.h"

size_t edit_lines_start(struct text file, size_t at)
{
	while (at > 0 && file.p[at - 1] != '\n')
		at--;
	return at;
}

size_t edit_lines_end(struct text file, size_t at)
{
	while (at < file.len && file.p[at] != '\n')
		at++;
	return at > 0 && at < file.len && file.p[at - 1] == '\r' ? at - 1 : at;
}

size_t edit_lines_next(struct text file, size_t at)
{
	while (at < file.len && file.p[at] != '\n')
		at++;
	return at < file.len ? at + 1 : at;
}

size_t edit_lines_column(struct text file, size_t at)
{
	return at - edit_lines_start(file, at);
}

/* Where the line of `at` begins to say something: at most its end. */
static size_t first_word(struct text file, size_t at)
{
	size_t end = edit_lines_end(file, at);

	at = edit_lines_start(file, at);
	while (at < end && ascii_blank(file.p[at]))
		at++;
	return at;
}

bool edit_lines_blank(struct text file, size_t at)
{
	return first_word(file, at) == edit_lines_end(file, at);
}

bool edit_lines_comment(struct text file, size_t at)
{
	size_t word = first_word(file, at);

	return word < file.len && file.p[word] == '#';
}

size_t edit_lines_behind(struct text file, size_t at, size_t least)
{
	size_t end = edit_lines_end(file, at);

	for (size_t next = edit_lines_next(file, at); next < file.len;
		next = edit_lines_next(file, next)) {
		if (edit_lines_blank(file, next))
			continue;
		if (!edit_lines_comment(file, next) || first_word(file, next) - next < least)
			break;
		end = edit_lines_end(file, next);
	}
	return end;
}

size_t edit_lines_above(struct text file, size_t at)
{
	at = edit_lines_start(file, at);
	while (at > 0 && edit_lines_comment(file, at - 1))
		at = edit_lines_start(file, at - 1);
	return at;
}

/* What the comment in the line of `at` says, from its first word on, and where that stands. */
static struct text said(struct text file, size_t at, size_t *ret_column)
{
	size_t hash = first_word(file, at), word = hash + 1, end = edit_lines_end(file, at);

	while (word < end && (file.p[word] == ' ' || file.p[word] == '\t'))
		word++;
	*ret_column = edit_lines_column(file, word);
	return (struct text){file.p + word, end - word};
}

/* One word, or nothing so far; several without quotes or brackets are a sentence about the key. */
static bool looks_like_value(struct text t)
{
	struct text word;

	t = text_trim(t);
	if (t.len == 0 || strchr("[{\"'#", t.p[0]))
		return true;
	text_split(&t, ' ', &word);
	t = text_trim(t);
	return t.len == 0 || t.p[0] == '#';
}

/* "name: value" */
static bool shows(struct text words, struct text name)
{
	return words.len > name.len && text_equal((struct text){words.p, name.len}, name) &&
	       words.p[name.len] == ':' && looks_like_value(text_after(words, name.len + 1));
}

/* "#   - item" and "# - item" below "# name:" are its value. */
static bool goes_on(struct text file, size_t at, size_t column)
{
	size_t stands;

	if (!edit_lines_comment(file, at))
		return false;
	struct text words = said(file, at, &stands);
	return words.len > 0 && (stands > column || (stands == column && text_starts(words, "- ")));
}

size_t edit_lines_shown(
	struct text file, size_t from, size_t to, struct text name, size_t *ret_column)
{
	size_t column;

	for (size_t at = from; at < to; at = edit_lines_next(file, at)) {
		if (!edit_lines_comment(file, at) || !shows(said(file, at, &column), name))
			continue;
		*ret_column = edit_lines_column(file, first_word(file, at));
		size_t end = edit_lines_end(file, at);
		for (size_t next = edit_lines_next(file, at);
			next < to && goes_on(file, next, column);
			next = edit_lines_next(file, next))
			end = edit_lines_end(file, next);
		return end;
	}
	return 0;
}
