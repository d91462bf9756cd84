#include "config/keys.h"

#include "base/mem.h"
#include "config/values.h"

enum { PATH_MAX_BYTES = NODE_PATH_MAX, NEAREST = 3, FAR = 5 };

static const struct schema_key *key_of(const struct schema *s, struct text name)
{
	for (size_t i = 0; i < s->n; i++)
		if (text_is(name, s->keys[i].name))
			return &s->keys[i];
	return NULL;
}

/* The three keys whose path or name comes nearest. */
struct nearest {
	struct text path, name;
	unsigned distance[NEAREST];
	char *keys[NEAREST];
};

static unsigned distance_to(const struct nearest *n, const char *path)
{
	const char *dot = strrchr(path, '.');
	unsigned whole = text_distance(n->path, text_of(path), FAR);
	unsigned last = text_distance(n->name, text_of(dot ? dot + 1 : path), FAR);

	return whole < last ? whole : last;
}

static void rank(void *data, const char *path, const struct schema_key *key)
{
	struct nearest *n = data;
	unsigned distance = distance_to(n, path);
	size_t at = NEAREST;

	(void)key;
	while (at > 0 && (!n->keys[at - 1] || distance < n->distance[at - 1]))
		at--;
	if (at == NEAREST || distance > FAR)
		return;
	free(n->keys[NEAREST - 1]);
	memmove(&n->keys[at + 1], &n->keys[at], (NEAREST - 1 - at) * sizeof(n->keys[0]));
	memmove(&n->distance[at + 1], &n->distance[at],
		(NEAREST - 1 - at) * sizeof(n->distance[0]));
	n->keys[at] = mem_strdup(path);
	n->distance[at] = distance;
}

static void list_nearest(const char *path, struct str *out)
{
	const char *dot = strrchr(path, '.');
	struct nearest n = {.path = text_of(path), .name = text_of(dot ? dot + 1 : path)};

	if (n.path.len <= PATH_MAX_BYTES)
		keys_each("", rank, &n);
	for (size_t i = 0; i < NEAREST; i++) {
		if (n.keys[i] && !text_has(text_of(str_text(out)), n.keys[i]))
			str_addf(out, "%s%s", out->len ? ", " : "", n.keys[i]);
		free(n.keys[i]);
	}
}

static const struct schema_key *unknown(
	const char *path, const struct schema *level, struct text part, struct error *err)
{
	AUTO(str) meant = STR_INIT(PATH_MAX_BYTES);
	size_t length = (size_t)(part.p - path);
	auto_free char *prefix = mem_strndup(path, length > 0 ? length - 1 : 0);

	error_set(err, ERROR_OPTION_UNKNOWN, "there is no key %s", quoted_string(path));
	schema_suggest(&values_schema, level, prefix, part, &meant);
	list_nearest(path, &meant);
	if (meant.len > 0)
		error_set_remedy(err, "did you mean %s?", str_text(&meant));
	else
		error_set_remedy(err, "cloop config show --defaults lists the keys");
	return NULL;
}

const struct schema_key *keys_find(const char *path, struct error *err)
{
	struct text rest = text_of(path), part;
	const struct schema *level = &values_schema;
	const struct schema_key *key = NULL;

	while (text_split(&rest, '.', &part)) {
		/* What a list of mappings holds has no path of its own. */
		bool open = !key || key->type == SCHEMA_SECTION;
		const struct schema_key *next = open ? key_of(level, part) : NULL;
		if (!next)
			return unknown(path, level, part, err);
		key = next;
		if (key->type == SCHEMA_SECTION)
			level = key->section;
	}
	return key;
}

static void visit(const struct schema *s, const char *prefix, keys_visit *fn, void *data)
{
	for (size_t i = 0; i < s->n; i++) {
		AUTO(str) path = STR_INIT(PATH_MAX_BYTES);
		const struct schema_key *key = &s->keys[i];
		str_addf(&path, "%s%s%s", prefix, prefix[0] ? "." : "", key->name);
		if (key->type == SCHEMA_SECTION)
			visit(key->section, str_text(&path), fn, data);
		else
			fn(data, str_text(&path), key);
	}
}

void keys_each(const char *section, keys_visit *fn, void *data)
{
	const struct schema_key *key = section[0] ? schema_find(&values_schema, section) : NULL;

	if (!section[0])
		visit(&values_schema, "", fn, data);
	else if (key && key->type == SCHEMA_SECTION)
		visit(key->section, section, fn, data);
	else if (key)
		fn(data, section, key);
}
