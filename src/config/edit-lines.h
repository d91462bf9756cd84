/* Places in the text of a config file, by lines. Offsets are bytes. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Where the line of `at` begins; where it ends, before its line break; where the next one begins.
 */
size_t edit_lines_start(struct text file, size_t at);
size_t edit_lines_end(struct text file, size_t at);
size_t edit_lines_next(struct text file, size_t at);
size_t edit_lines_column(struct text file, size_t at);

/* The line of `at` holds nothing, or nothing but a comment. */
bool edit_lines_blank(struct text file, size_t at);
bool edit_lines_comment(struct text file, size_t at);

/*
 * The end of what belongs to the line of `at`: that line, and the comments behind it that stand at
 * column `least` or further in.
 */
size_t edit_lines_behind(struct text file, size_t at, size_t least);
/* Where the comments directly above the line of `at` begin; without any, that line. */
size_t edit_lines_above(struct text file, size_t at);

/*
 * In [from, to): the end of a comment that shows the key (`# name: value`), with the comment lines
 * that go on with its value; *ret_column is where the comment stands. 0: there is none.
 */
size_t edit_lines_shown(
	struct text file, size_t from, size_t to, struct text name, size_t *ret_column);
