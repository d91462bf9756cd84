#include "cli/reference/markdown.h"

#include "base/text.h"

void markdown_title(struct str *out, const char *title)
{
	str_addf(out,
		"# %s\n\n<!-- Written by `make docs` from the tables in src/. Do not edit. -->\n",
		title);
}

void markdown_cell(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			str_add_char(out, '\\');
		str_add_char(out, *text == '\n' ? ' ' : *text);
	}
}

void markdown_paragraphs(struct str *out, const char *text)
{
	struct text rest = text_of(text), line;
	bool code = false;

	while (text && text_split(&rest, '\n', &line)) {
		bool now = text_starts(line, "  ");
		if (now != code)
			str_add_text(out, now ? "\n```\n" : "```\n");
		if (!now)
			str_add_char(out, '\n');
		code = now;
		line = now ? text_after(line, 2) : line;
		str_add(out, line.p, line.len);
		str_add_char(out, '\n');
	}
	if (code)
		str_add_text(out, "```\n");
}
