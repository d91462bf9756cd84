#include "yaml/node.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/wipe.h"

/* Chunks of the tree's memory; the newest first. */
struct tree_chunk {
	struct tree_chunk *older;
	_Alignas(max_align_t) char bytes[];
};
enum { CHUNK_BYTES = 16 << 10, CHUNK_ALIGN = _Alignof(max_align_t) };

void tree_done(struct tree *t)
{
	while (t->chunks) {
		struct tree_chunk *c = t->chunks;
		t->chunks = c->older;
		if (t->secret)
			wipe_free(c);
		else
			free(c);
	}
	*t = TREE_INIT;
}

/* A large piece gets a chunk of its own behind the newest, which keeps what it has left. */
static void *alloc_large(struct tree *t, size_t size)
{
	struct tree_chunk *c = mem_alloc(sizeof(*c) + size);

	c->older = t->chunks->older;
	t->chunks->older = c;
	return c->bytes;
}

void *tree_alloc(struct tree *t, size_t size)
{
	size = (size + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN;
	if (t->chunks && size > t->left && size > CHUNK_BYTES / 4)
		return alloc_large(t, size);
	if (!t->chunks || size > t->left) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
		struct tree_chunk *c = mem_alloc(sizeof(*c) + room);
		c->older = t->chunks;
		t->chunks = c;
		t->left = room;
	}
	t->left -= size;
	return t->chunks->bytes + t->left;
}

bool node_is_null(const struct node *n)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL"};

	if (!n)
		return true;
	if (n->kind != NODE_SCALAR || !n->plain || n->text.len > 4)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (text_is(n->text, words[i]))
			return true;
	return false;
}

static size_t digits(struct text t)
{
	size_t n = 0;

	while (n < t.len && ascii_digit(t.p[n]))
		n++;
	return n;
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(struct text t)
{
	if (t.len > 0 && t.p[0] == '-')
		t = text_after(t, 1);
	size_t n = digits(t);
	if (n == 0 || (n > 1 && t.p[0] == '0'))
		return false;
	t = text_after(t, n);
	if (t.len > 0 && t.p[0] == '.') {
		t = text_after(t, 1);
		n = digits(t);
		if (n == 0)
			return false;
		t = text_after(t, n);
	}
	if (t.len > 0 && ascii_to_lower(t.p[0]) == 'e') {
		t = text_after(t, 1);
		if (t.len > 0 && (t.p[0] == '+' || t.p[0] == '-'))
			t = text_after(t, 1);
		n = digits(t);
		return n > 0 && n == t.len;
	}
	return t.len == 0;
}

bool node_is_typed(const struct node *n)
{
	return n->kind == NODE_SCALAR && n->plain &&
	       (text_is(n->text, "true") || text_is(n->text, "false") || is_number(n->text));
}

static const struct node *find_key(const struct node *mapping, struct text name)
{
	if (!mapping || mapping->kind != NODE_MAPPING)
		return NULL;
	for (const struct node *key = mapping->first; key; key = key->next)
		if (key->kind == NODE_SCALAR && text_equal(key->text, name))
			return key;
	return NULL;
}

const struct node *node_key(const struct node *mapping, const char *name)
{
	return find_key(mapping, text_of(name));
}

const struct node *node_find(const struct node *root, const char *path)
{
	struct text rest = text_of(path), part;
	const struct node *n = root;

	while (n && text_split(&rest, '.', &part)) {
		const struct node *key = find_key(n, part);
		n = key ? key->value : NULL;
	}
	return n;
}

const char *node_kind_text(const struct node *n)
{
	switch (n->kind) {
	case NODE_SEQUENCE:
		return "a list";
	case NODE_MAPPING:
		return "a mapping";
	case NODE_ALIAS:
		return "an alias";
	case NODE_SCALAR:
	default:
		return node_is_null(n) ? "nothing" : n->plain ? "a word" : "a text";
	}
}

static char path_byte(char c)
{
	return c < 0x21 || c > 0x7e || strchr(".[]\"\\", c) ? '?' : c;
}

static void add_key(struct str *out, const struct node *key, bool private)
{
	bool hidden = false;

	if (out->len > 0)
		str_add_char(out, '.');
	if (key->kind != NODE_SCALAR || key->text.len == 0) {
		str_add_char(out, '?');
		return;
	}
	bool long_key = key->text.len > NODE_PATH_KEY_MAX;
	size_t n = long_key ? NODE_PATH_KEY_MAX - 3 : key->text.len;
	for (size_t i = 0; i < n; i++) {
		str_add_char(out, hidden ? '?' : path_byte(key->text.p[i]));
		hidden = hidden || (private && key->text.p[i] == '=');
	}
	if (long_key)
		str_add_text(out, "...");
}

/* Steps from the root down; depth is small (reader_rules.max_depth). */
static bool add_path(const struct tree *t, const struct node *n, struct str *out)
{
	bool private = n->parent && add_path(t, n->parent, out);
	bool top = out->len == 0;

	if (n->key)
		add_key(out, n->key, private);
	else if (n->parent && n->parent->kind == NODE_SEQUENCE)
		str_addf(out, "[%zu]", n->index);
	else if (n->parent)
		add_key(out, n, private);
	return private ||
	       (top && t->private_key && text_is(text_of(str_text(out)), t->private_key));
}

void node_path(const struct tree *t, const struct node *n, struct str *out)
{
	add_path(t, n, out);
}

static json_t *scalar_to_json(const struct node *n)
{
	uint64_t value;
	struct text digits = n->text;
	bool negative = n->text.len > 1 && n->text.p[0] == '-';

	if (node_is_null(n))
		return json_null();
	if (n->plain && text_is(n->text, "true"))
		return json_true();
	if (n->plain && text_is(n->text, "false"))
		return json_false();
	if (negative)
		digits = text_after(digits, 1);
	if (n->plain && digits.len <= 18 && num_parse(digits, INT64_MAX, &value) == NUM_OK)
		return json_integer(negative ? -(json_int_t)value : (json_int_t)value);
	return json_from_bytes(n->text);
}

static json_t *mapping_to_json(const struct node *n)
{
	json_t *object = json_object();

	for (const struct node *key = n->first; key; key = key->next) {
		auto_free char *name = mem_strndup(key->text.p ? key->text.p : "", key->text.len);
		if (!key->key_refused && strlen(name) == key->text.len && utf8_valid(key->text))
			json_object_set_new(object, name, node_to_json(key->value));
	}
	return object;
}

json_t *node_to_json(const struct node *n)
{
	if (!n || n->refused)
		return json_null();
	if (n->kind == NODE_MAPPING)
		return mapping_to_json(n);
	if (n->kind == NODE_SCALAR)
		return scalar_to_json(n);
	json_t *list = json_array();
	for (const struct node *item = n->first; item; item = item->next)
		json_array_append_new(list, node_to_json(item));
	return list;
}
