#include "schema/schema.h"

#include <assert.h>
#include <stdarg.h>

#include "base/mem.h"

static void add(struct schema_bind *b, struct problems *ps, enum problem_code code,
	const struct node *n, const char *message)
{
	AUTO(str) path = STR_INIT(NODE_PATH_MAX);
	struct position at = n ? n->at : POSITION_NONE;

	if (n && problems_wants(ps, at))
		node_path(b->tree, n, &path);
	problems_add(ps, code, at, str_text(&path), "%s", message);
}

void schema_problem(
	struct schema_bind *b, enum problem_code code, const struct node *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto_free char *message = mem_vprintf(fmt, ap);
	va_end(ap);
	add(b, b->errors, code, n, message);
}

void schema_warning(
	struct schema_bind *b, enum problem_code code, const struct node *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	auto_free char *message = mem_vprintf(fmt, ap);
	va_end(ap);
	add(b, b->warnings, code, n, message);
}

void schema_problem_error(struct schema_bind *b, const struct node *n, const struct error *err)
{
	AUTO(str) path = STR_INIT(NODE_PATH_MAX);

	node_path(b->tree, n, &path);
	problems_add_error(b->errors, n->at, str_text(&path), err);
}

const char *schema_quoted(struct text t)
{
	enum { RING = 8 };
	static _Thread_local char ring[RING][PROBLEM_QUOTE_MAX * 4 + 8];
	static _Thread_local unsigned next;
	AUTO(str) out = STR_INIT(sizeof(ring[0]) - 1);

	text_quote(&out, t, PROBLEM_QUOTE_MAX);
	char *slot = ring[next++ % RING];
	memcpy(slot, str_text(&out), out.len + 1);
	return slot;
}

static size_t index_of(const struct schema *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->keys[i].name, name) == 0)
			return i;
	assert(false && "a rule names a key that the table does not have");
	return 0;
}

bool section_given(const struct schema_section *s, const char *name)
{
	return s->given >> index_of(s->schema, name) & 1;
}

bool section_valid(const struct schema_section *s, const char *name)
{
	return s->valid >> index_of(s->schema, name) & 1;
}

const struct node *section_value(const struct schema_section *s, const char *name)
{
	const struct node *key = node_key(s->node, name);

	return key ? key->value : NULL;
}

static const struct schema_key *find_here(const struct schema *s, struct text name)
{
	for (size_t i = 0; i < s->n; i++)
		if (text_is(name, s->keys[i].name))
			return &s->keys[i];
	return NULL;
}

const struct schema_key *schema_find(const struct schema *s, const char *path)
{
	struct text rest = text_of(path), part;
	const struct schema_key *key = NULL;

	while (text_split(&rest, '.', &part)) {
		key = s ? find_here(s, part) : NULL;
		if (!key)
			return NULL;
		s = key->section;
	}
	return key;
}
