/*
 * An edit is one splice: the bytes [begin, end) of the file are replaced. Where it goes is decided
 * on the spans of the old text; afterwards the new text is read by the strict reader and compared
 * with the old one, so that a layout that was misjudged is refused and never written.
 */
#include "config/edit.h"

#include "base/json.h"
#include "base/mem.h"
#include "config/config.h"
#include "yaml/reader.h"
#include "yaml/spans.h"

enum { INDENT = 2 };

struct splice {
	size_t begin, end;
	struct str text;
};

static void splice_done(struct splice *s)
{
	str_done(&s->text);
}

/* What an edit works on. */
struct work {
	struct text file;
	const struct edit *edit;
	const char *newline; /* of this file */
	struct splice *splice;
};

/* ---- Writing values ---- */

/* Text that YAML reads as itself without quotes, in a block and between brackets. */
static bool plain(struct text t)
{
	static const char *const nulls[] = {"~", "null", "Null", "NULL"};

	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++)
		if (text_is(t, nulls[i]))
			return false;
	if (t.len == 0 || !text_all_word(t, "_./+-@"))
		return false;
	bool number = t.len > 1 && t.p[0] == '-' && ascii_digit(t.p[1]);
	return ascii_alnum(t.p[0]) || t.p[0] == '/' || t.p[0] == '_' || number;
}

static void write_value(struct str *out, struct text t)
{
	if (plain(t)) {
		str_add(out, t.p, t.len);
		return;
	}
	str_add_char(out, '"');
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] == '"' || t.p[i] == '\\')
			str_addf(out, "\\%c", t.p[i]);
		else if (ascii_control(t.p[i]))
			str_addf(out, "\\x%02X", (unsigned char)t.p[i]);
		else
			str_add_char(out, t.p[i]);
	}
	str_add_char(out, '"');
}

static bool is_list(const struct edit *e)
{
	return e->key->type == SCHEMA_LIST;
}

static void write_list(struct str *out, char *const *values, size_t n)
{
	str_add_char(out, '[');
	for (size_t i = 0; i < n; i++) {
		str_add_text(out, i ? ", " : "");
		write_value(out, text_of(values[i]));
	}
	str_add_char(out, ']');
}

static void write_values(struct str *out, const struct edit *e)
{
	if (is_list(e))
		write_list(out, e->values, e->n);
	else
		write_value(out, text_of(e->values[0]));
}

void edit_write_values(struct str *out, const struct schema_key *key, char *const *values)
{
	struct edit e = {.key = key, .values = values};

	while (values[e.n])
		e.n++;
	write_values(out, &e);
}

/* ---- Places in the text ---- */

static size_t line_start(struct text file, size_t at)
{
	while (at > 0 && file.p[at - 1] != '\n')
		at--;
	return at;
}

/* Where the line of `at` ends, before its line break. */
static size_t line_end(struct text file, size_t at)
{
	while (at < file.len && file.p[at] != '\n')
		at++;
	return at > 0 && at < file.len && file.p[at - 1] == '\r' ? at - 1 : at;
}

static size_t next_line(struct text file, size_t at)
{
	while (at < file.len && file.p[at] != '\n')
		at++;
	return at < file.len ? at + 1 : at;
}

static size_t column_of(struct text file, size_t at)
{
	return at - line_start(file, at);
}

/* A value that comes where there was nothing stands apart from the colon. */
static const char *gap_at(struct text file, const struct span *nothing)
{
	bool apart = nothing->begin > 0 && ascii_blank(file.p[nothing->begin - 1]);

	return nothing->begin == nothing->end && !apart ? " " : "";
}

static void add_indent(struct str *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_add_char(out, ' ');
}

/* ---- Replacing, removing, adding ---- */

/* A list that is written line by line stays so. */
static void write_items(const struct work *w, const struct span *old)
{
	struct str *out = &w->splice->text;

	for (size_t i = 0; i < w->edit->n; i++) {
		if (i > 0) {
			str_add_text(out, w->newline);
			add_indent(out, column_of(w->file, old->begin));
		}
		str_add_text(out, "- ");
		write_value(out, text_of(w->edit->values[i]));
	}
}

static void replace_value(const struct work *w, const struct span *old)
{
	struct splice *s = w->splice;

	s->begin = old->begin;
	s->end = old->end;
	str_add_text(&s->text, gap_at(w->file, old));
	if (is_list(w->edit) && old->kind == SPAN_SEQUENCE && !old->flow)
		write_items(w, old);
	else
		write_values(&s->text, w->edit);
}

/* In brackets: with the comma before or behind it. In a block: with its lines. */
static void remove_key(const struct work *w, const struct span *mapping, const struct span *key)
{
	struct splice *s = w->splice;
	const struct span *before = mapping->first;

	s->begin = key->begin;
	s->end = key->value->end;
	while (before != key && before->next != key)
		before = before->next;
	if (!mapping->flow && !mapping->in_flow) {
		s->begin = line_start(w->file, key->begin);
		s->end = next_line(w->file, key->value->end);
	} else if (key->next) {
		s->end = key->next->begin;
	} else if (before != key) {
		s->begin = before->value->end;
	}
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
static void write_block(const struct work *w, struct text rest, size_t indent)
{
	struct str *out = &w->splice->text;
	struct text part;

	while (text_split(&rest, '.', &part)) {
		str_addf(out, "%.*s:", (int)part.len, part.p);
		if (!rest.p)
			break;
		indent += INDENT;
		str_add_text(out, w->newline);
		add_indent(out, indent);
	}
	str_add_char(out, ' ');
	write_values(out, w->edit);
}

static void add_to_flow(const struct work *w, const struct span *mapping, struct text rest)
{
	struct splice *s = w->splice;

	s->begin = mapping->last ? mapping->last->value->end : mapping->begin + 1;
	s->end = s->begin;
	str_add_text(&s->text, mapping->last ? ", " : "");
	write_flow(&s->text, rest, w->edit);
}

/* On lines of their own, behind the line that holds `after`. */
static void add_lines(const struct work *w, size_t after, struct text rest, size_t indent)
{
	struct splice *s = w->splice;

	s->begin = line_end(w->file, after);
	s->end = s->begin;
	str_add_text(&s->text, w->newline);
	add_indent(&s->text, indent);
	write_block(w, rest, indent);
}

/* Nothing is said so far: at the end of the file. */
static void add_first(const struct work *w, struct text rest)
{
	struct splice *s = w->splice;

	s->begin = s->end = w->file.len;
	if (w->file.len > 0 && w->file.p[w->file.len - 1] != '\n')
		str_add_text(&s->text, w->newline);
	write_block(w, rest, 0);
	str_add_text(&s->text, w->newline);
}

/* A section that is there with null gets what is missing. */
static void add_to_null(const struct work *w, const struct span *key, struct text rest)
{
	struct splice *s = w->splice;
	const struct span *null = key->value;

	if (key->in_flow) {
		s->begin = null->begin;
		s->end = null->end;
		str_addf(&s->text, "%s{", gap_at(w->file, null));
		write_flow(&s->text, rest, w->edit);
		str_add_char(&s->text, '}');
		return;
	}
	add_lines(w, null->end, rest, column_of(w->file, key->begin) + INDENT);
	if (null->begin == null->end)
		return;
	/* `key: ~  # why`: the word goes, and what stood behind it stays on the line. */
	AUTO(str) kept = STR_INIT(CONFIG_MAX_BYTES);
	str_add(&kept, w->file.p + null->end, s->begin - null->end);
	str_add(&kept, s->text.data, s->text.len);
	str_reset(&s->text);
	str_add(&s->text, kept.data, kept.len);
	s->begin = null->begin;
}

/* ---- Deciding ---- */

/* The key is not there; `rest` is what is missing of its path. */
static void add_to(const struct work *w, const struct span *mapping, struct text rest)
{
	if (mapping->flow || mapping->in_flow)
		add_to_flow(w, mapping, rest);
	else
		add_lines(w, mapping->end, rest, column_of(w->file, mapping->begin));
}

static void change(const struct work *w, const struct span *mapping, const struct span *key)
{
	if (w->edit->n == 0)
		remove_key(w, mapping, key);
	else
		replace_value(w, key->value);
}

/*
 * Fills the splice, or leaves it empty: where there is nothing to do, and where the layout cannot
 * be edited (verify() tells them apart).
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

static void apply(const struct work *w, struct str *ret)
{
	const struct splice *s = w->splice;

	str_reset(ret);
	str_add(ret, w->file.p, s->begin);
	str_add(ret, s->text.data, s->text.len);
	str_add(ret, w->file.p + s->end, w->file.len - s->end);
}

int edit_text(struct text file, const struct edit *e, struct str *ret, struct error *err)
{
	AUTO(spans) spans = {0};
	AUTO(splice) splice = {.text = STR_INIT(CONFIG_MAX_BYTES)};
	AUTO(tree) readable = TREE_INIT;
	AUTO(str) text = STR_INIT(CONFIG_MAX_BYTES);
	struct work w = {file, e, text_has(file, "\r\n") ? "\r\n" : "\n", &splice};

	if (check_values(e, err) < 0 || read_tree(file, &readable, err) < 0)
		return -1;
	if (spans_read(file, &spans) == 0)
		plan(&w, &spans);
	apply(&w, &text);
	if (str_full(&splice.text) || str_full(&text))
		return error_set(err, ERROR_USAGE, "the file would be larger than 256 KiB");
	if (verify(file, (struct text){str_text(&text), text.len}, e, err) < 0)
		return -1;
	str_reset(ret);
	if (str_add(ret, text.data, text.len) < 0)
		return error_set(err, ERROR_USAGE, "the file would be larger than 256 KiB");
	return 0;
}
