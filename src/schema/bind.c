/*
 * A mapping is bound key by key in the order of the file; each value by its type; then the rules
 * across keys. Nothing stops at a problem: the caller throws the struct away when there was one.
 */
#include "schema/schema.h"

#include <assert.h>
#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"
#include "schema/value.h"
#include "yaml/bytes.h"

static bool bind_mapping(
	struct schema_bind *b, const struct schema *s, const struct node *n, void *out);

static const char *const type_words[] = {
	[SCHEMA_TEXT] = "text",
	[SCHEMA_BOOLEAN] = "true or false",
	[SCHEMA_CPU] = "a number of cores",
	[SCHEMA_INTEGER] = "a whole number",
	[SCHEMA_SIGNED] = "a whole number",
	[SCHEMA_SIZE] = "a size",
	[SCHEMA_LIST] = "a list of texts",
	[SCHEMA_SECTION] = "a mapping",
	[SCHEMA_ENTRIES] = "a list of mappings",
	[SCHEMA_CUSTOM] = "a value",
};

/* wrong_type; never quotes, since the value may be a secret. */
static bool wrong_type(struct schema_bind *b, const char *wanted, const struct node *n)
{
	schema_problem(
		b, PROBLEM_WRONG_TYPE, n, "%s is wanted here, not %s", wanted, node_kind_text(n));
	return false;
}

/* ---- Text ---- */

static bool is_choice(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text *value)
{
	AUTO(str) words = STR_INIT(PROBLEM_TEXT_MAX);

	for (size_t i = 0; key->choices[i]; i++) {
		const char *word = key->choices[i];
		if (key->flags & SCHEMA_NO_CASE ? text_is_nocase(*value, word)
						: text_is(*value, word)) {
			*value = text_of(word);
			return true;
		}
		str_addf(&words, "%s%s", i ? ", " : "", word);
	}
	schema_problem(b, PROBLEM_NOT_A_CHOICE, n, "%s is none of: %s", schema_quoted(*value),
		str_text(&words));
	problems_set_remedy(b->errors, "write one of: %s", str_text(&words));
	return false;
}

/* A text with NUL cannot be kept as a string; without a check of its own, nothing odd is. */
static bool storable(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value)
{
	bool judged = key->check || key->choices;

	if (judged ? !text_has_byte(value, '\0') : !bytes_has_refused(value))
		return true;
	schema_problem(b, PROBLEM_CONTROL_CHARACTER, n, "the text holds a control character");
	return false;
}

/* A scalar that is text by the rules of its key; *ret into the tree's memory or the table's. */
static bool judge_text(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, struct text *ret)
{
	bool check_empty = key->flags & SCHEMA_CHECK_EMPTY;

	if (n->kind != NODE_SCALAR)
		return wrong_type(b, "text", n);
	if (key->flags & SCHEMA_TYPED && node_is_typed(n)) {
		wrong_type(b, "text", n);
		problems_set_remedy(b->errors, "quote it, if this is the text that is meant");
		return false;
	}
	*ret = key->flags & SCHEMA_VERBATIM ? n->text : text_trim(n->text);
	if (ret->len == 0 && !(key->flags & SCHEMA_BLANK) && !check_empty) {
		schema_problem(b, PROBLEM_EMPTY, n, "the text is empty");
		return false;
	}
	if (key->max_bytes && ret->len > key->max_bytes) {
		schema_problem(b, PROBLEM_TOO_LONG, n,
			"the text has %zu bytes, at most %zu are allowed", ret->len,
			key->max_bytes);
		return false;
	}
	if ((ret->len > 0 || check_empty) && key->check && !key->check(b, key, n, *ret))
		return false;
	if (ret->len > 0 && key->choices && !is_choice(b, key, n, ret))
		return false;
	return storable(b, key, n, *ret);
}

static bool bind_text(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	struct text value;

	if (!judge_text(b, key, n, &value))
		return false;
	char **where = field;
	free(*where);
	*where = mem_strndup(value.len ? value.p : "", value.len);
	return true;
}

/* ---- Booleans and numbers ---- */

static bool bind_boolean(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	bool *where = field;

	(void)key;
	if (n->kind != NODE_SCALAR)
		return wrong_type(b, "true or false", n);
	if (n->plain && (text_is(n->text, "true") || text_is(n->text, "false"))) {
		*where = n->text.len == 4;
		return true;
	}
	const char *advice = value_boolean_advice(text_trim(n->text));
	schema_problem(b, PROBLEM_WRONG_TYPE, n, "true or false is wanted here, not %s%s",
		n->plain ? "" : "the text ", schema_quoted(n->text));
	problems_set_remedy(b->errors, "write %s%s", advice ? advice : "true or false",
		n->plain ? "" : " without quotes");
	return false;
}

static const char *unit_of(const struct schema_key *key)
{
	return key->type == SCHEMA_SIZE ? " MB" : "";
}

static void amount_text(const struct schema_key *key, uint64_t n, char out[32])
{
	bool cores = key->type == SCHEMA_CPU;
	uint64_t rest = cores ? n % 1000 : 0;

	if (rest)
		snprintf(out, 32, "%" PRIu64 ".%03" PRIu64, n / 1000, rest);
	else
		snprintf(out, 32, "%" PRIu64 "%s", cores ? n / 1000 : n, unit_of(key));
}

/* Out of the bounds of the table: the code of the table, if it has one. */
static void out_of_range(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	enum problem_code code, const char *message)
{
	auto_error struct error err = ERROR_INIT;

	if (!key->range_code) {
		schema_problem(b, code, n, "%s", message);
		return;
	}
	enum error_code own = error_code_from_text(text_of(key->range_code));
	assert(own != ERROR_NONE);
	error_set(&err, own, "%s", message);
	schema_problem_error(b, n, &err);
}

static bool number_malformed(struct schema_bind *b, const struct schema_key *key,
	const struct node *n, enum problem_code code)
{
	AUTO(str) advice = STR_INIT(PROBLEM_TEXT_MAX);
	auto_free char *message =
		mem_printf("%s %s", schema_quoted(n->text), value_fault_text(code));

	if (code == PROBLEM_NEGATIVE) {
		out_of_range(b, key, n, code, message);
		if (key->negative_hint)
			problems_set_remedy(b->errors, "%s", key->negative_hint);
		return false;
	}
	schema_problem(b, code, n, "%s", message);
	if (code == PROBLEM_NOT_A_SIZE && value_size_advice(n->text, &advice))
		problems_set_remedy(b->errors, "write %s", str_text(&advice));
	else if (code == PROBLEM_NOT_A_NUMBER && key->type == SCHEMA_CPU)
		problems_set_remedy(b->errors, "write cores as decimal digits, such as 2 or 0.5");
	return false;
}

static bool number_too_large(
	struct schema_bind *b, const struct schema_key *key, const struct node *n)
{
	char max[32];

	amount_text(key, key->max, max);
	auto_free char *message =
		mem_printf("%s is above the maximum of %s", schema_quoted(n->text), max);
	if (key->flags & SCHEMA_CLAMP) {
		schema_warning(b, PROBLEM_CLAMPED, n, "%s and was lowered to it", message);
		problems_set_remedy(b->warnings, "ask for at most %s", max);
		return true;
	}
	out_of_range(b, key, n, PROBLEM_TOO_LARGE, message);
	if (!key->range_code)
		problems_set_remedy(b->errors, "at most %s", max);
	return false;
}

static bool number_too_small(
	struct schema_bind *b, const struct schema_key *key, const struct node *n)
{
	char min[32];

	amount_text(key, (uint64_t)(key->min > 0 ? key->min : 0), min);
	auto_free char *message =
		mem_printf("%s is below the minimum of %s", schema_quoted(n->text), min);
	out_of_range(b, key, n, PROBLEM_BELOW_MINIMUM, message);
	if (!key->range_code)
		problems_set_remedy(b->errors, "write at least %s%s", min,
			key->flags & SCHEMA_ZERO ? ", or remove the key" : "");
	return false;
}

static bool bind_number(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	enum problem_code code;
	uint64_t value = 0;

	if (n->kind != NODE_SCALAR)
		return wrong_type(b, type_words[key->type], n);
	if (key->type == SCHEMA_SIZE)
		code = value_size(n->text, key->max, &value);
	else if (key->type == SCHEMA_CPU)
		code = value_cpu(n->text, key->max, &value);
	else
		code = value_integer(n->text, key->max, &value);
	if (code == PROBLEM_TOO_LARGE) {
		if (!number_too_large(b, key, n))
			return false;
	} else if (code != PROBLEM_NONE) {
		return number_malformed(b, key, n, code);
	}
	bool zero = value == 0 && key->flags & SCHEMA_ZERO;
	if (key->min > 0 && value < (uint64_t)key->min && !zero)
		return number_too_small(b, key, n);
	*(uint64_t *)field = value;
	return true;
}

static bool bind_signed(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	int64_t value = 0;

	if (n->kind != NODE_SCALAR)
		return wrong_type(b, type_words[key->type], n);
	enum problem_code code = value_signed(n->text, &value);
	if (code != PROBLEM_NONE)
		return number_malformed(b, key, n, code);
	if (value > 0 && (uint64_t)value > key->max)
		return number_too_large(b, key, n);
	if (value < key->min && !(value == 0 && key->flags & SCHEMA_ZERO))
		return number_too_small(b, key, n);
	*(int64_t *)field = value;
	return true;
}

/* ---- Lists ---- */

/* How many items are judged; too many is told once, at the first that is not. */
static size_t judged_items(
	struct schema_bind *b, const struct schema_key *key, const struct node *list)
{
	AUTO(str) path = STR_INIT(NODE_PATH_MAX);
	const struct node *over = list->first;

	if (!key->max_items || list->n <= key->max_items)
		return list->n;
	for (size_t i = 0; i < key->max_items; i++)
		over = over->next;
	node_path(b->tree, list, &path);
	problems_add(b->errors, PROBLEM_TOO_MANY, over->at, str_text(&path),
		"%zu items, at most %zu are allowed", list->n, key->max_items);
	return key->max_items;
}

static bool null_item(struct schema_bind *b, const struct schema_key *key, const struct node *item)
{
	if (!node_is_null(item))
		return false;
	schema_problem(b, key->flags & SCHEMA_TYPED ? PROBLEM_WRONG_TYPE : PROBLEM_NULL_ITEM, item,
		"the item is null");
	return true;
}

static bool bind_list(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	struct schema_list *list = field;

	if (n->kind != NODE_SEQUENCE)
		return wrong_type(b, type_words[key->type], n);
	size_t limit = judged_items(b, key, n);
	bool valid = limit == n->n;
	strv_done(&list->items);
	list->items = STRV_INIT(limit);
	list->given = true;
	for (const struct node *item = n->first; item && item->index < limit; item = item->next) {
		struct text value;
		if (item->refused || null_item(b, key, item) || !judge_text(b, key, item, &value)) {
			valid = false;
			continue;
		}
		char *copy = mem_strndup(value.len ? value.p : "", value.len);
		if (key->flags & SCHEMA_UNIQUE && strv_has(&list->items, copy))
			free(copy);
		else if (strv_take(&list->items, copy) < 0)
			valid = false;
	}
	return valid;
}

static bool bind_entries(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	struct schema_entries *entries = field;

	if (n->kind != NODE_SEQUENCE)
		return wrong_type(b, type_words[key->type], n);
	size_t limit = judged_items(b, key, n);
	bool valid = limit == n->n;
	assert(!entries->v);
	entries->v = mem_alloc(limit * key->entry_size);
	entries->n = limit;
	for (const struct node *item = n->first; item && item->index < limit; item = item->next) {
		void *entry = (char *)entries->v + item->index * key->entry_size;
		schema_defaults(key->section, entry);
		if (item->refused || null_item(b, key, item))
			valid = false;
		else if (item->kind != NODE_MAPPING)
			valid = wrong_type(b, "a mapping", item);
		else
			valid = bind_mapping(b, key->section, item, entry) && valid;
	}
	if (key->after)
		key->after(b, key, n, entries);
	return valid;
}

/* ---- Mappings ---- */

static bool bind_section(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field)
{
	return n->kind == NODE_MAPPING ? bind_mapping(b, key->section, n, field)
				       : wrong_type(b, type_words[key->type], n);
}

typedef bool binder(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *field);
static binder *const binders[] = {
	[SCHEMA_TEXT] = bind_text,
	[SCHEMA_BOOLEAN] = bind_boolean,
	[SCHEMA_CPU] = bind_number,
	[SCHEMA_INTEGER] = bind_number,
	[SCHEMA_SIGNED] = bind_signed,
	[SCHEMA_SIZE] = bind_number,
	[SCHEMA_LIST] = bind_list,
	[SCHEMA_SECTION] = bind_section,
	[SCHEMA_ENTRIES] = bind_entries,
};

static bool bind_value(
	struct schema_bind *b, const struct schema_key *key, const struct node *n, void *out)
{
	void *field = (char *)out + key->offset;

	return key->type == SCHEMA_CUSTOM ? key->custom(b, key, n, field)
					  : binders[key->type](b, key, n, field);
}

static void unknown_key(struct schema_bind *b, const struct schema *s, const struct node *key)
{
	AUTO(str) meant = STR_INIT(PROBLEM_TEXT_MAX);
	AUTO(str) prefix = STR_INIT(NODE_PATH_MAX);

	schema_problem(b, PROBLEM_UNKNOWN_KEY, key, "the key %s is not known here",
		problems_wants(b->errors, key->at) ? schema_quoted(key->text) : "");
	if (!b->errors->kept)
		return;
	node_path(b->tree, key->parent, &prefix);
	if (schema_suggest(b->root, s, str_text(&prefix), key->text, &meant))
		problems_set_remedy(
			b->errors, "did you mean %s? Otherwise remove the key", str_text(&meant));
}

static size_t key_index(const struct schema *s, const struct node *key)
{
	size_t i = 0;

	while (i < s->n && !(key->kind == NODE_SCALAR && text_is(key->text, s->keys[i].name)))
		i++;
	return i;
}

static void bind_key(
	struct schema_bind *b, struct schema_section *s, const struct node *key, void *out)
{
	size_t i = key_index(s->schema, key);
	bool known = i < s->schema->n;
	uint64_t bit = known ? (uint64_t)1 << i : 0;

	if (key->key_refused) {
		s->given |= bit; /* unknown what it says: rules across keys must not guess */
	} else if (!known) {
		unknown_key(b, s->schema, key);
	} else if (key->value->refused || !node_is_null(key->value)) {
		s->given |= bit;
		if (!key->value->refused && bind_value(b, &s->schema->keys[i], key->value, out))
			s->valid |= bit;
	}
}

static void missing_keys(struct schema_bind *b, const struct schema_section *s)
{
	for (size_t i = 0; i < s->schema->n; i++) {
		AUTO(str) path = STR_INIT(NODE_PATH_MAX);
		const struct schema_key *key = &s->schema->keys[i];
		if (!(key->flags & SCHEMA_REQUIRED) || s->given >> i & 1)
			continue;
		node_path(b->tree, s->node, &path);
		str_addf(&path, "%s%s", path.len ? "." : "", key->name);
		problems_add(b->errors, PROBLEM_MISSING_KEY, s->node->at, str_text(&path),
			"the key %s is missing", key->name);
	}
}

static bool bind_mapping(
	struct schema_bind *b, const struct schema *s, const struct node *n, void *out)
{
	struct schema_section section = {.schema = s, .node = n};
	size_t errors = b->errors->total;

	assert(s->n <= 64);
	for (const struct node *key = n->first; key; key = key->next)
		bind_key(b, &section, key, out);
	missing_keys(b, &section);
	if (s->across)
		s->across(b, &section, out);
	return b->errors->total == errors;
}

void schema_bind_document(struct schema_bind *b, const struct schema *s, void *out)
{
	const struct node *root = b->tree->root;

	b->root = s;
	if (node_is_null(root) || root->refused)
		return;
	if (root->kind == NODE_MAPPING)
		bind_mapping(b, s, root, out);
	else
		wrong_type(b, "a mapping of keys", root);
}

static void default_items(const struct schema_key *key, struct schema_list *list)
{
	assert(key->type == SCHEMA_LIST && key->max_items);
	strv_done(&list->items);
	list->items = STRV_INIT(key->max_items);
	for (const char *const *item = key->fallback_items; *item; item++) {
		int added = strv_add(&list->items, *item);
		assert(added == 0);
	}
}

void schema_defaults(const struct schema *s, void *out)
{
	AUTO(problems) none = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	struct tree tree = TREE_INIT;
	struct schema_bind b = {.errors = &none, .warnings = &none, .tree = &tree, .root = s};

	for (size_t i = 0; i < s->n; i++) {
		const struct schema_key *key = &s->keys[i];
		struct node n = {.kind = NODE_SCALAR, .plain = true};
		if (key->type == SCHEMA_SECTION)
			schema_defaults(key->section, (char *)out + key->offset);
		if (key->fallback_items)
			default_items(key, (struct schema_list *)((char *)out + key->offset));
		if (!key->fallback || key->type > SCHEMA_SIZE)
			continue;
		n.text = text_of(key->fallback);
		bool valid = bind_value(&b, key, &n, out);
		assert(valid);
	}
}
