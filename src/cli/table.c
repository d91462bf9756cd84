#include "cli/table.h"

#include <assert.h>
#include <stdio.h>

#include "cli/cli.h"

void table_done(struct table *t)
{
	strv_done(&t->cells);
}

/* A list that would pass the bound ends there. */
static void add(struct table *t, const char *cell)
{
	auto_free char *shown = cli_plain(cell ? cell : "-");

	(void)!strv_add(&t->cells, shown);
}

void table_titles(struct table *t, const char *const *titles)
{
	assert(t->columns == 0);
	for (; titles[t->columns]; t->columns++)
		add(t, titles[t->columns]);
	assert(t->columns > 0 && t->columns <= TABLE_COLUMNS_MAX);
}

void table_row(struct table *t, const char *const *cells)
{
	for (size_t i = 0; i < t->columns; i++)
		add(t, cells[i]);
}

static size_t width_of(const char *cell)
{
	struct text rest = text_of(cell);
	size_t n = 0;

	for (; rest.len > 0; rest = text_after(rest, utf8_step(rest)))
		n++;
	return n;
}

void table_print(const struct table *t)
{
	size_t widths[TABLE_COLUMNS_MAX] = {0};

	for (size_t i = 0; i < t->cells.n; i++) {
		size_t width = width_of(t->cells.v[i]);
		if (width > widths[i % t->columns])
			widths[i % t->columns] = width;
	}
	for (size_t i = 0; i < t->cells.n; i++) {
		const char *cell = t->cells.v[i];
		size_t column = i % t->columns;
		bool last = column + 1 == t->columns;
		int gap = last ? 0 : (int)(widths[column] - width_of(cell)) + 2;
		printf("%s%*s%s", cell, gap, "", last ? "\n" : "");
	}
}
