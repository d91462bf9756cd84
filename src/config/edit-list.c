/*
 * The longest common subsequence of old items and new values stays. In each gap between items that
 * stay, the first old items become the first new values where they stand, so that their comments
 * do; what is left over of the old ones goes, what is left over of the new ones comes behind.
 */
#include "config/edit-list.h"

#include "base/mem.h"
#include "config/edit-flow.h"
#include "config/edit-lines.h"
#include "config/edit-value.h"

/* Above it, what changes is taken for one gap. */
enum { COMPARED_MAX = 512 };

struct job {
	struct edit_splices *splices;
	const struct span *list;
	const struct span **items;
	size_t n_items;
	char *const *values;
	size_t n_values;
};

/* Old items [from, to) become the new values [first, end). */
struct gap {
	size_t from, to;
	size_t first, end;
};

/* ---- Writing ---- */

static struct edit_flow_entry entry_of(const struct job *j, size_t first, size_t last)
{
	return (struct edit_flow_entry){
		.begin = j->items[first]->begin,
		.end = j->items[last]->end,
		.before = first > 0 ? j->items[first - 1]->end : 0,
		.next = last + 1 < j->n_items ? j->items[last + 1]->begin : 0,
	};
}

static void replace_item(const struct job *j, size_t item, size_t value)
{
	const struct span *old = j->items[item];
	struct str *out = edit_splices_add(j->splices, old->begin, old->end);

	if (old->begin == old->end)
		str_add_char(out, ' ');
	edit_value_write(out, text_of(j->values[value]));
}

static bool one_piece(const struct job *j, size_t item)
{
	return j->list->flow && edit_flow_separates(j->splices->file, j->items[item]->end,
					j->items[item + 1]->begin);
}

/* What has no comment in between goes in one piece: two would share a comma. */
static void remove_items(const struct job *j, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		size_t first = i;
		while (i + 1 < to && one_piece(j, i))
			i++;
		struct edit_flow_entry e = entry_of(j, first, i);
		if (first > from)
			e.before = 0;
		if (j->list->flow)
			edit_flow_remove(j->splices, &e);
		else
			edit_splices_drop(j->splices, j->items[i]->begin, j->items[i]);
	}
}

static void write_dashes(const struct job *j, struct str *out, const struct gap *g, bool before)
{
	size_t indent = edit_lines_column(j->splices->file, j->list->begin);

	for (size_t i = g->first; i < g->end; i++) {
		if (!before)
			edit_splices_line(j->splices, out, indent);
		for (size_t blank = 0; before && blank < indent; blank++)
			str_add_char(out, ' ');
		str_add_text(out, "- ");
		edit_value_write(out, text_of(j->values[i]));
		str_add_text(out, before ? j->splices->newline : "");
	}
}

/* Behind the item before the gap; without one, above the first item and what is said of it. */
static void add_lines(const struct job *j, const struct gap *g)
{
	struct edit_splices *s = j->splices;
	size_t column = edit_lines_column(s->file, j->list->begin);
	bool before = g->from == 0;
	size_t at = before ? edit_lines_above(s->file, j->items[0]->begin)
			   : edit_lines_behind(s->file, j->items[g->from - 1]->end, column + 1);

	write_dashes(j, edit_splices_add(s, at, at), g, before);
}

static void add_items(const struct job *j, const struct gap *g)
{
	size_t item = g->from > 0 ? g->from - 1 : 0, n = g->end - g->first;
	struct edit_flow_entry e = entry_of(j, item, item);

	if (n == 0)
		return;
	if (!j->list->flow)
		add_lines(j, g);
	else if (g->from > 0)
		edit_flow_append(j->splices, &e, j->values + g->first, n);
	else
		edit_flow_prepend(j->splices, &e, j->values + g->first, n);
}

static void close_gap(const struct job *j, struct gap g)
{
	while (g.from < g.to && g.first < g.end)
		replace_item(j, g.from++, g.first++);
	remove_items(j, g.from, g.to);
	add_items(j, &g);
}

/* ---- Comparing ---- */

static bool stays(const struct job *j, size_t item, size_t value)
{
	const struct span *s = j->items[item];

	return s->kind == SPAN_SCALAR && !s->null && text_is(s->text, j->values[value]);
}

/* Row i, column k: how many of the items from i on and the values from k on can stay. */
static unsigned *count_common(const struct job *j, const struct gap *g)
{
	size_t rows = g->to - g->from, columns = g->end - g->first, width = columns + 1;
	unsigned *common = mem_alloc((rows + 1) * width * sizeof(*common));

	for (size_t i = rows; i-- > 0;)
		for (size_t k = columns; k-- > 0;) {
			unsigned down = common[(i + 1) * width + k];
			unsigned right = common[i * width + k + 1];
			unsigned most = down > right ? down : right;
			bool same = stays(j, g->from + i, g->first + k);
			common[i * width + k] = same ? common[(i + 1) * width + k + 1] + 1 : most;
		}
	return common;
}

/* Between what is equal at both ends. */
static void compare(const struct job *j, const struct gap *g)
{
	auto_free unsigned *common = count_common(j, g);
	size_t width = g->end - g->first + 1, i = g->from, k = g->first;
	struct gap open = {i, i, k, k};

	while (i < g->to && k < g->end) {
		const unsigned *here = common + (i - g->from) * width + (k - g->first);
		if (!stays(j, i, k)) {
			if (here[width] >= here[1])
				i++;
			else
				k++;
			continue;
		}
		open.to = i++;
		open.end = k++;
		close_gap(j, open);
		open = (struct gap){i, i, k, k};
	}
	open.to = g->to;
	open.end = g->end;
	close_gap(j, open);
}

static void plan(const struct job *j)
{
	struct gap g = {0, j->n_items, 0, j->n_values};

	while (g.from < g.to && g.first < g.end && stays(j, g.from, g.first)) {
		g.from++;
		g.first++;
	}
	while (g.from < g.to && g.first < g.end && stays(j, g.to - 1, g.end - 1)) {
		g.to--;
		g.end--;
	}
	if (g.to - g.from > COMPARED_MAX || g.end - g.first > COMPARED_MAX)
		close_gap(j, g);
	else
		compare(j, &g);
}

void edit_list_plan(struct edit_splices *s, const struct span *old, char *const *values, size_t n)
{
	struct job j = {.splices = s, .list = old, .values = values, .n_values = n};

	for (const struct span *item = old->first; item; item = item->next)
		j.n_items++;
	auto_free const struct span **items = mem_alloc(j.n_items * sizeof(*items));
	j.items = items;
	size_t i = 0;
	for (const struct span *item = old->first; item; item = item->next)
		items[i++] = item;
	plan(&j);
}
