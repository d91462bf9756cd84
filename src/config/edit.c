/*
 * An edit is a few splices: byte ranges of the file that are replaced. Where they go is decided on
 * the spans of the old text; afterwards the new text is read by the strict reader and compared with
 * the old one, so that a layout that was misjudged is refused and never written.
 */
#include "config/edit.h"

#include "base/json.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/edit-flow.h"
#include "config/edit-lines.h"
#include "config/edit-list.h"
#include "config/edit-value.h"
#include "yaml/reader.h"

enum { INDENT = 2 };

/* What an edit works on. */
struct work {
	struct text file;
	const struct edit *edit;
	struct edit_splices *splices;
};

static bool is_list(const struct edit *e)
{
	return e->key->type == SCHEMA_LIST;
}

static void write_values(struct str *out, const struct edit *e)
{
	if (is_list(e))
		edit_value_write_list(out, e->values, e->n);
	else
		edit_value_write(out, text_of(e->values[0]));
}

void edit_write_values(struct str *out, const struct schema_key *key, char *const *values)
{
	struct edit e = {.key = key, .values = values};

	while (values[e.n])
		e.n++;
	write_values(out, &e);
}

/* ---- Replacing, removing, adding ---- */

/* A value that comes where there was nothing stands apart from the colon. */
static const char *gap_at(struct text file, const struct span *nothing)
{
	bool apart = nothing->begin > 0 && ascii_blank(file.p[nothing->begin - 1]);

	return nothing->begin == nothing->end && !apart ? " " : "";
}

static void replace_value(const struct work *w, const struct span *old)
{
	if (is_list(w->edit) && old->kind == SPAN_SEQUENCE && old->first) {
		edit_list_plan(w->splices, old, w->edit->values, w->edit->n);
		return;
	}
	struct str *out = edit_splices_add(w->splices, old->begin, old->end);
	str_add_text(out, gap_at(w->file, old));
	write_values(out, w->edit);
}

/* In brackets: with the comma before or behind it. In a block: with its lines. */
static void remove_key(const struct work *w, const struct span *mapping, const struct span *key)
{
	const struct span *before = mapping->first;

	if (!mapping->flow && !mapping->in_flow) {
		edit_splices_drop(w->splices, key->begin, key->value);
		return;
	}
	while (before != key && before->next != key)
		before = before->next;
	struct edit_flow_entry e = {
		.begin = key->begin,
		.end = key->value->end,
		.before = before != key ? before->value->end : 0,
		.next = key->next ? key->next->begin : 0,
	};
	edit_flow_remove(w->splices, &e);
}

/* "a: {b: {c: value}}" of the path's components from `rest` on. */
static void write_flow(struct str *out, struct text rest, const struct edit *e)
{
	struct text part;
	size_t depth = 0;

	while (text_split(&rest, '.', &part)) {
		str_addf(out, "%.*s: ", (int)part.len, part.p);
		if (!rest.p)
			break;
		str_add_char(out, '{');
		depth++;
	}
	write_values(out, e);
	while (depth-- > 0)
		str_add_char(out, '}');
}

/* The same as lines, the first one without its indentation. */
static void write_block(const struct work *w, struct str *out, struct text rest, size_t indent)
{
	struct text part;

	while (text_split(&rest, '.', &part)) {
		str_addf(out, "%.*s:", (int)part.len, part.p);
		if (!rest.p)
			break;
		indent += INDENT;
		edit_splices_line(w->splices, out, indent);
	}
	str_add_char(out, ' ');
	write_values(out, w->edit);
}

static void add_to_flow(const struct work *w, const struct span *mapping, struct text rest)
{
	size_t at = mapping->last ? mapping->last->value->end : mapping->begin + 1;
	struct str *out = edit_splices_add(w->splices, at, at);

	str_add_text(out, mapping->last ? ", " : "");
	write_flow(out, rest, w->edit);
}

/* On lines of their own, behind the line of `at`. */
static void add_lines(const struct work *w, size_t at, struct text rest, size_t indent)
{
	struct str *out = edit_splices_add(w->splices, at, at);

	edit_splices_line(w->splices, out, indent);
	write_block(w, out, rest, indent);
}

/* Nothing is said so far: at the end of the file. */
static void add_first(const struct work *w, struct text rest)
{
	struct text file = w->file;
	struct str *out = edit_splices_add(w->splices, file.len, file.len);

	if (file.len > 0 && file.p[file.len - 1] != '\n')
		str_add_text(out, w->splices->newline);
	write_block(w, out, rest, 0);
	str_add_text(out, w->splices->newline);
}

/* Not between the lines of a key's value. */
static bool between_keys(const struct span *mapping, size_t at)
{
	for (const struct span *key = mapping->first; key; key = key->next)
		if (key->begin < at && at < key->value->end)
			return false;
	return true;
}

/*
 * The end of the comment that shows the key at `column` or, below a section without keys, further
 * in; 0: there is none. The key comes behind it: there somebody will look for it.
 */
static size_t find_shown(struct text file, size_t from, size_t to, struct text rest, size_t *column)
{
	size_t least = *column, found = 0;
	struct text name;
	bool nested = text_has_byte(rest, '.');

	if (nested || !text_split(&rest, '.', &name))
		return 0;
	size_t end = edit_lines_shown(file, from, to, name, &found);
	if (end == 0 || found < least)
		return 0;
	*column = found;
	return end;
}

/* The key is not there; `rest` is what is missing of its path. */
static void add_to_block(const struct work *w, const struct span *mapping, struct text rest)
{
	struct text file = w->file;
	size_t column = edit_lines_column(file, mapping->begin), shown = column;
	size_t from = edit_lines_above(file, mapping->begin);
	size_t to = edit_lines_behind(file, mapping->end, column);
	size_t at = find_shown(file, from, to, rest, &shown);

	if (at == 0 || shown != column || !between_keys(mapping, at))
		at = edit_lines_behind(file, mapping->end, column + 1);
	add_lines(w, at, rest, column);
}

/* Below `key:`, which has no keys so far. */
static void add_below(const struct work *w, const struct span *key, struct text rest)
{
	struct text file = w->file;
	size_t least = edit_lines_column(file, key->begin) + 1, column = least;
	size_t end = edit_lines_behind(file, key->value->end, least);
	size_t at = find_shown(file, edit_lines_next(file, key->value->end), end, rest, &column);

	add_lines(w, at ? at : end, rest, at ? column : least - 1 + INDENT);
}

/* A section that is there with null gets what is missing. */
static void add_to_null(const struct work *w, const struct span *key, struct text rest)
{
	const struct span *null = key->value;

	if (!key->in_flow) {
		/* `key: ~  # why`: the word goes, and what stood behind it stays on the line. */
		if (null->begin != null->end)
			edit_splices_add(w->splices, null->begin, null->end);
		add_below(w, key, rest);
		return;
	}
	struct str *out = edit_splices_add(w->splices, null->begin, null->end);
	str_addf(out, "%s{", gap_at(w->file, null));
	write_flow(out, rest, w->edit);
	str_add_char(out, '}');
}

/* ---- Deciding ---- */

static void add_to(const struct work *w, const struct span *mapping, struct text rest)
{
	if (mapping->flow || mapping->in_flow)
		add_to_flow(w, mapping, rest);
	else
		add_to_block(w, mapping, rest);
}

static void change(const struct work *w, const struct span *mapping, const struct span *key)
{
	if (w->edit->n == 0)
		remove_key(w, mapping, key);
	else
		replace_value(w, key->value);
}

/*
 * Adds the splices, or none: where there is nothing to do, and where the layout cannot be edited
 * (verify() tells them apart).
 */
static void plan(const struct work *w, const struct spans *spans)
{
	struct text rest = text_of(w->edit->path), missing = rest, part;
	const struct span *mapping = spans->root, *key = NULL;
	bool adds = w->edit->n > 0;

	if (!mapping || (mapping->null && mapping->begin == mapping->end)) {
		if (adds)
			add_first(w, rest);
		return;
	}
	while (mapping->kind == SPAN_MAPPING && text_split(&rest, '.', &part)) {
		key = span_key(mapping, part);
		if (!key || !rest.p || key->value->null)
			break;
		mapping = key->value;
		missing = rest;
	}
	if (mapping->kind != SPAN_MAPPING)
		return;
	if (key && !rest.p)
		change(w, mapping, key);
	else if (key && adds)
		add_to_null(w, key, rest);
	else if (!key && adds)
		add_to(w, mapping, missing);
}

/* ---- Reading back ---- */

static int read_tree(struct text file, struct tree *ret, struct error *err)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	struct reader_rules rules = {.max_events = READER_CONFIG_EVENTS};

	if (reader_read(file, &rules, &errors, ret) == 0)
		return 0;
	problems_finish(&errors);
	return config_refuse(&errors, "the file", err);
}

/* Takes away what says nothing: null, and sections that hold nothing else. */
static void prune(json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		prune(value);
		if (json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0))
			json_object_del(object, key);
	}
}

/* Takes the value at a path out of nested objects. */
static void forget(json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	auto_free char *key = mem_strndup(path, dot ? (size_t)(dot - path) : strlen(path));

	if (dot)
		forget(json_object_get(object, key), dot + 1);
	else
		json_object_del(object, key);
}

static bool rest_equal(const struct tree *before, const struct tree *after, const char *path)
{
	auto_json *a = before->root ? node_to_json(before->root) : NULL;
	auto_json *b = after->root ? node_to_json(after->root) : NULL;
	auto_json *nothing = json_object();

	forget(a, path);
	forget(b, path);
	prune(a);
	prune(b);
	return json_equal(json_is_object(a) ? a : nothing, json_is_object(b) ? b : nothing);
}

static bool says(const struct node *n, const struct edit *e)
{
	if (e->n == 0)
		return !n || node_is_null(n);
	if (!n || n->refused)
		return false;
	if (!is_list(e))
		return n->kind == NODE_SCALAR && !node_is_null(n) && text_is(n->text, e->values[0]);
	if (n->kind != NODE_SEQUENCE || n->n != e->n)
		return false;
	for (const struct node *item = n->first; item; item = item->next)
		if (item->kind != NODE_SCALAR || node_is_null(item) ||
			!text_is(item->text, e->values[item->index]))
			return false;
	return true;
}

static int verify(struct text before, struct text after, const struct edit *e, struct error *err)
{
	AUTO(tree) old = TREE_INIT;
	AUTO(tree) new = TREE_INIT;
	auto_error struct error unused = ERROR_INIT;

	if (read_tree(before, &old, err) < 0)
		return -1;
	bool readable = read_tree(after, &new, &unused) == 0;
	const struct node *n = readable && new.root ? node_find(new.root, e->path) : NULL;
	if (readable && says(n, e) && rest_equal(&old, &new, e->path))
		return 0;
	error_set(err, ERROR_CONFIG_INVALID, "the layout of the file does not allow to set %s",
		e->path);
	return error_set_remedy(err, "change the key in an editor, then cloop config check");
}

/* ---- The whole ---- */

static int check_values(const struct edit *e, struct error *err)
{
	if (!is_list(e) && e->n > 1)
		return error_set(err, ERROR_USAGE, "%s takes one value, not %zu", e->path, e->n);
	for (size_t i = 0; i < e->n; i++)
		if (!utf8_valid(text_of(e->values[i])))
			return error_set(err, ERROR_USAGE, "the value of %s is not UTF-8", e->path);
	return 0;
}

int edit_text(struct text file, const struct edit *e, struct str *ret, struct error *err)
{
	AUTO(spans) spans = {0};
	AUTO(edit_splices)
	splices = {.file = file, .newline = text_has(file, "\r\n") ? "\r\n" : "\n"};
	AUTO(tree) readable = TREE_INIT;
	AUTO(str) text = STR_INIT(CONFIG_MAX_BYTES);
	struct work w = {file, e, &splices};

	if (check_values(e, err) < 0 || read_tree(file, &readable, err) < 0)
		return -1;
	if (spans_read(file, &spans) == 0)
		plan(&w, &spans);
	if (edit_splices_apply(&splices, &text) < 0)
		return error_set(err, ERROR_USAGE, "the file would be larger than 256 KiB");
	if (verify(file, (struct text){str_text(&text), text.len}, e, err) < 0)
		return -1;
	str_reset(ret);
	if (str_add(ret, text.data, text.len) < 0)
		return error_set(err, ERROR_USAGE, "the file would be larger than 256 KiB");
	return 0;
}
