/*
 * Entries of a list or a mapping in brackets: a comma goes and comes with them, and one that has a
 * line to itself goes, or gets a neighbour, as a line. Pure.
 */
#pragma once

#include <stdbool.h>

#include "config/edit-splice.h"

/* An item, or a key with its value, or some that follow one another; and the neighbours. */
struct edit_flow_entry {
	size_t begin, end;
	size_t before; /* end of the one before it; 0 = it is the first */
	size_t next;   /* begin of the one behind it; 0 = it is the last */
};

/* Nothing but blanks, line breaks and commas lies there: no comment. */
bool edit_flow_separates(struct text file, size_t begin, size_t end);

void edit_flow_remove(struct edit_splices *s, const struct edit_flow_entry *e);
/* New values behind an entry, and in front of the first one. */
void edit_flow_append(
	struct edit_splices *s, const struct edit_flow_entry *e, char *const *values, size_t n);
void edit_flow_prepend(
	struct edit_splices *s, const struct edit_flow_entry *e, char *const *values, size_t n);
