/*
 * A list for people. Each column is as wide as its widest cell, with two blanks behind it; nothing
 * is cut, and nothing follows the last one. So a long path moves what stands to its right in every
 * row, and no row breaks out of the list.
 */
#pragma once

#include "base/strv.h"

enum { TABLE_COLUMNS_MAX = 8, TABLE_CELLS_MAX = 4 << 20 };

struct table {
	size_t columns;
	struct strv cells; /* row after row, the titles first */
};
#define TABLE_INIT ((struct table){.cells = STRV_INIT(TABLE_CELLS_MAX)})
void table_done(struct table *t);

/* The titles: at most TABLE_COLUMNS_MAX, NULL-terminated. Once, before the rows. */
void table_titles(struct table *t, const char *const *titles);
/* As many cells as there are titles, shown as cli_plain() shows them; NULL is "-". */
void table_row(struct table *t, const char *const *cells);
/* On stdout. */
void table_print(const struct table *t);
