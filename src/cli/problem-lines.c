#include "cli/problem-lines.h"

#include <limits.h>
#include <stdio.h>

static void print(const char *file, const char *what, const struct problem *p)
{
	AUTO(str) line = STR_INIT(8 * (PATH_MAX + 2 * PROBLEM_TEXT_MAX));

	text_escape(&line, text_of(file), PATH_MAX);
	str_add_char(&line, ':');
	if (p->at.line)
		str_addf(&line, "%u:%u:", p->at.line, p->at.column);
	str_addf(&line, " %s: ", what);
	if (p->path[0])
		str_addf(&line, "%s: ", p->path);
	text_escape(&line, text_of(p->message), PROBLEM_TEXT_MAX);
	str_addf(&line, " (%s)\n", p->code);
	if (p->remedy[0]) {
		str_add_text(&line, "  fix: ");
		text_escape(&line, text_of(p->remedy), PROBLEM_TEXT_MAX);
		str_add_char(&line, '\n');
	}
	fputs(str_text(&line), stdout);
}

void problem_lines_print(
	const char *file, const struct problems *errors, const struct problems *warnings)
{
	for (size_t i = 0; i < errors->n; i++)
		print(file, "error", &errors->v[i]);
	for (size_t i = 0; i < warnings->n; i++)
		print(file, "warning", &warnings->v[i]);
}
