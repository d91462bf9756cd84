/*
 * Payloads of lines (disk-and-secrets.md §16): LF ends a line, blanks and tabs around it are not
 * its own, empty lines and those that begin with `#` say nothing. Pure.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

enum { PAYLOAD_LINES_MAX = 256 };

/*
 * Calls entry() for every line that says something, with its number, until one fails. -1:
 * too_many_lines before anything else, entry()'s error, or `empty` when no line said anything.
 */
must_check int payload_lines_read(struct text payload,
	int (*entry)(void *context, struct text line, unsigned number, struct error *err),
	void *context, struct error *err);
