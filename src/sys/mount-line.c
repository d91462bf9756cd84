#include "sys/mount-line.h"

#include "base/num.h"

enum { FIELDS = 6 };

bool mount_line_parse(struct text line, struct mount_line *ret)
{
	struct text field[FIELDS], rest = line, part;

	for (size_t i = 0; i < FIELDS; i++)
		if (!text_split(&rest, ' ', &field[i]))
			return false;
	if (num_parse(field[0], UINT64_MAX, &ret->id) != NUM_OK)
		return false;
	ret->device = field[2];
	ret->root = field[3];
	ret->target = field[4];
	ret->options = field[5];
	/* Optional fields, as many as there are, end with a single dash. */
	while (text_split(&rest, ' ', &part))
		if (text_is(part, "-"))
			return text_split(&rest, ' ', &ret->type) &&
			       text_split(&rest, ' ', &ret->source) &&
			       text_split(&rest, ' ', &ret->super);
	return false;
}

bool mount_line_next(struct text *rest, struct mount_line *ret)
{
	struct text line;

	while (text_split(rest, '\n', &line))
		if (mount_line_parse(line, ret))
			return true;
	return false;
}

static bool octal(char c)
{
	return c >= '0' && c <= '7';
}

void mount_line_unescape(struct str *out, struct text field)
{
	for (size_t i = 0; i < field.len; i++) {
		const char *p = field.p + i;
		if (field.len - i >= 4 && p[0] == '\\' && p[1] >= '0' && p[1] <= '3' &&
			octal(p[2]) && octal(p[3])) {
			str_add_char(
				out, (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0')));
			i += 3;
		} else {
			str_add_char(out, *p);
		}
	}
}

bool mount_line_has(struct text options, const char *word)
{
	struct text part;

	while (text_split(&options, ',', &part))
		if (text_is(part, word))
			return true;
	return false;
}
