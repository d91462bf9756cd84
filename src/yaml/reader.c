/*
 * The events of libyaml arrive in the order of the text. `open` is the stack of collections whose
 * end has not come; in a mapping, `pending` is the key that waits for its value. A collection that
 * is itself a key is open like any other, and becomes the pending key of its mapping at once.
 *
 * Two things libyaml 0.2.5 does not tell are read from the source text instead: a non-specific tag
 * (`! text`), which it drops from scalars, and long runs of directives, which it compares each with
 * each (64 KiB of them take seconds).
 */
#include "yaml/reader.h"

#include <yaml.h>

#include "base/mem.h"
#include "yaml/bytes.h"

enum { DIRECTIVES_MAX = 32 };

struct reader {
	yaml_parser_t parser;
	const struct reader_rules *rules;
	struct problems *errors;
	struct tree *tree;
	struct text source;      /* without byte order mark */
	size_t at_char, at_byte; /* one place of the source in both counts */
	struct node *open[READER_DEEPEST];
	struct node *pending[READER_DEEPEST];
	size_t depth, max_depth;
	unsigned events;
	unsigned documents;
};

static struct position position(yaml_mark_t mark)
{
	return (struct position){(unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

/* The only problem there is. Returns 1. */
#define STOP(r, code, at, ...) \
	(problems_clear((r)->errors), problems_add((r)->errors, code, at, "", __VA_ARGS__), 1)

static void add_path(const struct reader *r, const struct node *n, struct str *out)
{
	if (n)
		node_path(r->tree, n, out);
}

/* A fault of the node itself: of a key, it is told at the mapping that holds it. */
static void fault(struct reader *r, const struct node *n, bool is_key, enum problem_code code,
	const char *what)
{
	AUTO(str) path = STR_INIT(NODE_PATH_MAX);

	if (problems_wants(r->errors, n->at))
		add_path(r, is_key ? n->parent : n, &path);
	problems_add(r->errors, code, n->at, str_text(&path), "%s", what);
}

/* ---- Source text beside the parser ---- */

/* Byte offset of a mark, which counts characters. Marks of events hardly ever go back. */
static size_t byte_offset(struct reader *r, size_t index)
{
	if (index < r->at_char)
		r->at_char = r->at_byte = 0;
	while (r->at_char < index && r->at_byte < r->source.len) {
		r->at_byte++;
		while (r->at_byte < r->source.len &&
			((unsigned char)r->source.p[r->at_byte] & 0xc0) == 0x80)
			r->at_byte++;
		r->at_char++;
	}
	return r->at_byte;
}

/* t without blanks, line breaks and comments in front. */
static struct text skip_separation(struct text t)
{
	while (t.len > 0 && (ascii_blank(t.p[0]) || t.p[0] == '#')) {
		bool comment = t.p[0] == '#';
		while (comment && t.len > 0 && t.p[0] != '\n')
			t = text_after(t, 1);
		if (!comment)
			t = text_after(t, 1);
	}
	return t;
}

/*
 * Has the scalar an explicit tag? libyaml tells, but for `!` in front of text: with quotes that
 * shows in plain_implicit, without them only the source says it (`! x`, `&a ! x`).
 */
static bool has_tag(struct reader *r, const yaml_event_t *event)
{
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

	if (event->data.scalar.tag || (!plain && event->data.scalar.plain_implicit))
		return true;
	if (!plain || event->data.scalar.length == 0)
		return false;
	struct text t = text_after(r->source, byte_offset(r, event->start_mark.index));
	if (event->data.scalar.anchor && t.len > 0 && t.p[0] == '&') {
		while (t.len > 0 && !ascii_blank(t.p[0]))
			t = text_after(t, 1);
		t = skip_separation(t);
	}
	return t.len > 0 && t.p[0] == '!';
}

static bool directive_line(struct text line)
{
	size_t n = text_starts(line, "%YAML") ? 5 : text_starts(line, "%TAG") ? 4 : 0;

	return n > 0 && line.len > n && ascii_blank(line.p[n]);
}

/*
 * More directive lines than libyaml can take in a row, from the byte `from` on? Then the place of
 * the first, else none.
 */
static struct position directive_run(const struct reader *r, size_t from, struct position at)
{
	struct text rest = text_after(r->source, from), line;
	struct position first = POSITION_NONE;
	unsigned n = 0;

	for (; n <= DIRECTIVES_MAX && text_split(&rest, '\n', &line); at.line++) {
		struct text trimmed = text_trim(line);
		bool known = directive_line(line);
		if (known && n++ == 0)
			first = (struct position){at.line, 1};
		if (!known && trimmed.len > 0 && trimmed.p[0] != '#')
			break;
	}
	return n > DIRECTIVES_MAX ? first : POSITION_NONE;
}

/* ---- Nodes ---- */

static struct node *new_node(struct reader *r, enum node_kind kind, const yaml_event_t *event)
{
	struct node *n = tree_alloc(r->tree, sizeof(*n));

	n->kind = kind;
	n->at = position(event->start_mark);
	return n;
}

static void append(struct node *collection, struct node *n)
{
	n->index = collection->n++;
	if (collection->last)
		collection->last->next = n;
	else
		collection->first = n;
	collection->last = n;
}

static void judge_key(struct reader *r, struct node *key)
{
	if (key->kind == NODE_SEQUENCE || key->kind == NODE_MAPPING) {
		fault(r, key, true, PROBLEM_COMPLEX_KEY, "a list or mapping cannot be a key");
		key->key_refused = true;
	} else if (node_is_null(key)) {
		fault(r, key, true, PROBLEM_NULL_KEY, "a key is missing or null");
		key->key_refused = true;
	} else if (key->kind == NODE_SCALAR && key->plain && text_is(key->text, "<<")) {
		fault(r, key, true, PROBLEM_MERGE_KEY, "merge keys are not taken");
		key->key_refused = true;
	}
	key->key_refused = key->key_refused || key->refused;
}

/* Hangs the node into the tree and judges what can be said of it alone. */
static void place(struct reader *r, struct node *n, bool anchor, bool tag)
{
	struct node *parent = r->depth ? r->open[r->depth - 1] : NULL;
	struct node **pending = r->depth ? &r->pending[r->depth - 1] : NULL;
	bool is_key = parent && parent->kind == NODE_MAPPING && !*pending;

	n->parent = parent;
	if (!parent) {
		r->tree->root = n;
	} else if (is_key || parent->kind == NODE_SEQUENCE) {
		append(parent, n);
	} else {
		n->key = *pending;
		n->key->value = n;
	}
	n->refused = tag || n->kind == NODE_ALIAS;
	if (anchor)
		fault(r, n, is_key, PROBLEM_ANCHOR, "anchors are not taken");
	if (tag)
		fault(r, n, is_key, PROBLEM_TAG, "tags are not taken");
	if (n->kind == NODE_ALIAS)
		fault(r, n, is_key, PROBLEM_ALIAS, "aliases are not taken");
	if (is_key)
		judge_key(r, n);
	if (parent && parent->kind == NODE_MAPPING)
		*pending = is_key ? n : NULL;
}

static void add_alias(struct reader *r, const yaml_event_t *event)
{
	place(r, new_node(r, NODE_ALIAS, event), false, false);
}

static void add_scalar(struct reader *r, const yaml_event_t *event)
{
	struct node *n = new_node(r, NODE_SCALAR, event);
	size_t length = event->data.scalar.length;
	char *copy = tree_alloc(r->tree, length + 1);

	memcpy(copy, event->data.scalar.value, length);
	n->text = (struct text){copy, length};
	n->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	place(r, n, event->data.scalar.anchor != NULL, has_tag(r, event));
}

static int open_collection(struct reader *r, enum node_kind kind, const yaml_event_t *event)
{
	bool mapping = kind == NODE_MAPPING;
	const void *anchor =
		mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
	const void *tag = mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;

	if (r->depth == r->max_depth)
		return STOP(r, PROBLEM_TOO_DEEP, position(event->start_mark),
			"lists and mappings are nested more than %zu deep", r->max_depth);
	struct node *n = new_node(r, kind, event);
	place(r, n, anchor != NULL, tag != NULL);
	r->open[r->depth] = n;
	r->pending[r->depth++] = NULL;
	return 0;
}

/* ---- Keys given twice ---- */

static int compare_keys(const void *a, const void *b)
{
	const struct node *x = *(struct node *const *)a, *y = *(struct node *const *)b;
	int order = text_compare(x->text, y->text);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void duplicate(struct reader *r, struct node *key, const struct node *first)
{
	AUTO(str) path = STR_INIT(NODE_PATH_MAX);

	if (problems_wants(r->errors, key->at))
		node_path(r->tree, key, &path);
	problems_add(r->errors, PROBLEM_DUPLICATE_KEY, key->at, str_text(&path),
		"the key stands here again; it was first given in line %u", first->at.line);
	key->key_refused = true;
}

static void find_duplicates(struct reader *r, struct node *mapping)
{
	if (mapping->n < 2)
		return;
	auto_free struct node **keys = mem_grow(NULL, mapping->n, sizeof(struct node *));
	size_t n = 0, first = 0;
	for (struct node *key = mapping->first; key; key = key->next)
		if (key->kind == NODE_SCALAR && (!key->key_refused || key->refused))
			keys[n++] = key;
	if (n > 1)
		qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < n; i++) {
		if (text_equal(keys[i]->text, keys[first]->text))
			duplicate(r, keys[i], keys[first]);
		else
			first = i;
	}
}

static void close_collection(struct reader *r)
{
	struct node *n = r->open[--r->depth];

	if (n->kind == NODE_MAPPING)
		find_duplicates(r, n);
}

/* ---- Events ---- */

static int start_document(struct reader *r, const yaml_event_t *event)
{
	struct position at = position(event->start_mark);

	if (++r->documents > 1)
		return STOP(r, PROBLEM_MULTIPLE_DOCUMENTS, at, "a second document begins here");
	if (event->data.document_start.version_directive ||
		event->data.document_start.tag_directives.start !=
			event->data.document_start.tag_directives.end)
		return STOP(r, PROBLEM_DIRECTIVE, at, "directives are not taken");
	return 0;
}

/* What follows a document must not keep libyaml busy. */
static int end_document(struct reader *r, const yaml_event_t *event)
{
	struct position at = {(unsigned)event->end_mark.line + 1, 1};

	at = directive_run(r, byte_offset(r, event->end_mark.index), at);
	return at.line ? STOP(r, PROBLEM_MULTIPLE_DOCUMENTS, at, "a second document begins here")
		       : 0;
}

static int take(struct reader *r, const yaml_event_t *event)
{
	if (++r->events > r->rules->max_events)
		return STOP(r, PROBLEM_TOO_COMPLEX, position(event->start_mark),
			"the text has more than %u events", r->rules->max_events);
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return start_document(r, event);
	case YAML_DOCUMENT_END_EVENT:
		return end_document(r, event);
	case YAML_ALIAS_EVENT:
		add_alias(r, event);
		return 0;
	case YAML_SCALAR_EVENT:
		add_scalar(r, event);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
		return open_collection(r, NODE_SEQUENCE, event);
	case YAML_MAPPING_START_EVENT:
		return open_collection(r, NODE_MAPPING, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		close_collection(r);
		return 0;
	default:
		return 0;
	}
}

static int syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;

	return STOP(r, PROBLEM_SYNTAX, position(p->problem_mark), "%s%s%s",
		p->context ? p->context : "", p->context ? ": " : "",
		p->problem ? p->problem : "out of memory");
}

static int read_events(struct reader *r)
{
	for (bool end = false; !end;) {
		yaml_event_t event;
		if (!yaml_parser_parse(&r->parser, &event))
			return syntax(r);
		end = event.type == YAML_STREAM_END_EVENT;
		int stop = take(r, &event);
		if (r->rules->secret && event.type == YAML_SCALAR_EVENT)
			explicit_bzero(event.data.scalar.value, event.data.scalar.length);
		yaml_event_delete(&event);
		if (stop)
			return stop;
	}
	return 0;
}

/* Where the parser keeps the text as it came, and as UTF-8. */
static void wipe_buffers(yaml_parser_t *p)
{
	explicit_bzero(p->raw_buffer.start, (size_t)(p->raw_buffer.end - p->raw_buffer.start));
	explicit_bzero(p->buffer.start, (size_t)(p->buffer.end - p->buffer.start));
}

static int parse(struct reader *r)
{
	struct position run = directive_run(r, 0, (struct position){1, 1});

	if (run.line)
		return STOP(r, PROBLEM_DIRECTIVE, run, "directives are not taken");
	if (!yaml_parser_initialize(&r->parser))
		return syntax(r);
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->source.p, r->source.len);
	int stop = read_events(r);
	if (r->rules->secret)
		wipe_buffers(&r->parser);
	yaml_parser_delete(&r->parser);
	return stop;
}

int reader_read(struct text bytes, const struct reader_rules *rules, struct problems *errors,
	struct tree *ret)
{
	struct reader r = {.rules = rules, .errors = errors, .tree = ret};
	struct position at;

	if (!bytes.p)
		bytes = TEXT("");
	enum problem_code code = bytes_check(bytes, &at);
	if (code != PROBLEM_NONE)
		return STOP(&r, code, at, "%s", bytes_fault_text(code));
	ret->private_key = rules->private_key;
	ret->secret = rules->secret;
	r.max_depth = rules->max_depth ? rules->max_depth : READER_MAX_DEPTH;
	r.source = text_after(bytes, bytes_mark_length(bytes));
	int stop = parse(&r);
	if (stop)
		tree_done(ret);
	return stop;
}
