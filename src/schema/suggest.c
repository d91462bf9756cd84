#include "schema/schema.h"

enum { NEAR = 2 };

static struct text name_of(const struct schema_key *key)
{
	return text_of(key->name);
}

/* Smallest distance, then alphabetical. */
static const struct schema_key *nearest(const struct schema *level, struct text key)
{
	const struct schema_key *best = NULL;
	unsigned best_distance = NEAR;

	for (size_t i = 0; i < level->n; i++) {
		const struct schema_key *k = &level->keys[i];
		unsigned d = text_distance(key, name_of(k), NEAR);
		if (d > best_distance)
			continue;
		if (!best || d < best_distance || strcmp(k->name, best->name) < 0)
			best = k;
		best_distance = d;
	}
	return best;
}

/* The longest that the unknown key starts with. */
static const struct schema_key *longest_start(const struct schema *level, struct text key)
{
	const struct schema_key *best = NULL;

	for (size_t i = 0; i < level->n; i++) {
		const struct schema_key *k = &level->keys[i];
		if (text_starts_nocase(key, k->name) &&
			(!best || strlen(k->name) > strlen(best->name)))
			best = k;
	}
	return best;
}

/* The same name in another section; out holds the path that leads to `s`. */
static bool elsewhere(
	const struct schema *s, const struct schema *level, struct text key, struct str *out)
{
	size_t length = out->len;

	for (size_t i = 0; i < s->n; i++) {
		const struct schema_key *k = &s->keys[i];
		str_addf(out, "%s%s%s", length ? "." : "", k->name,
			k->type == SCHEMA_ENTRIES ? "[]" : "");
		if (s != level && text_is_nocase(key, k->name))
			return true;
		if (k->section && elsewhere(k->section, level, key, out))
			return true;
		out->len = length;
	}
	return false;
}

bool schema_suggest(const struct schema *root, const struct schema *level, const char *prefix,
	struct text key, struct str *out)
{
	const struct schema_key *k = nearest(level, key);

	if (!k)
		k = longest_start(level, key);
	if (!k) {
		AUTO(str) path = STR_INIT(NODE_PATH_MAX);
		if (!elsewhere(root, level, key, &path))
			return false;
		str_add(out, path.data, path.len);
		return true;
	}
	bool in_list = text_ends(text_of(prefix), "]");
	if (prefix[0] && !in_list)
		str_addf(out, "%s.", prefix);
	str_add_text(out, k->name);
	return true;
}
