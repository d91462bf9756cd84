/*
 * What an edit does to a text: byte ranges that are replaced, each lying behind or at the end of
 * those before it. Pure.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "base/text.h"
#include "yaml/spans.h"

struct edit_splice {
	size_t begin, end;
	struct str text;
};

struct edit_splices {
	struct text file;
	const char *newline; /* of this file */
	struct edit_splice *v;
	size_t n;
};
void edit_splices_done(struct edit_splices *s);

/* [begin, end) becomes what is added to the answer, which lives until the next call. */
struct str *edit_splices_add(struct edit_splices *s, size_t begin, size_t end);
/*
 * Takes out the lines from `begin` to the end of the value, all of each, but for comments and blank
 * lines between them.
 */
void edit_splices_drop(struct edit_splices *s, size_t begin, const struct span *value);
/* A line break and `indent` blanks. */
void edit_splices_line(const struct edit_splices *s, struct str *out, size_t indent);
/* The new text, appended to *ret; ranges in another order change nothing. -1: it does not fit. */
must_check int edit_splices_apply(const struct edit_splices *s, struct str *ret);
