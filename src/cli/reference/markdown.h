/* Text of the tables as Markdown. */
#pragma once

#include "base/str.h"

/* Every generated page begins with a title and says that it is not to be edited. */
void markdown_title(struct str *out, const char *title);
/* The text of a cell: pipes escaped, line breaks blanks. */
void markdown_cell(struct str *out, const char *text);
/* Paragraphs of a table (verb.h): one per line; lines that begin with two blanks are code. */
void markdown_paragraphs(struct str *out, const char *text);
