#include "schema/key-docs.h"

#include <inttypes.h>

static const char *type_word(const struct schema_key *key)
{
	static const char *const words[] = {
		[SCHEMA_TEXT] = "text",
		[SCHEMA_BOOLEAN] = "true or false",
		[SCHEMA_CPU] = "cores",
		[SCHEMA_INTEGER] = "whole number",
		[SCHEMA_SIGNED] = "whole number",
		[SCHEMA_SIZE] = "size",
		[SCHEMA_LIST] = "list of text",
		[SCHEMA_SECTION] = "section",
		[SCHEMA_ENTRIES] = "list of mappings",
		[SCHEMA_CUSTOM] = "",
	};

	return words[key->type];
}

static void add_bounds(const struct schema_key *key, struct str *out)
{
	bool cpu = key->type == SCHEMA_CPU;
	const char *unit = key->type == SCHEMA_SIZE ? " MB" : "";

	if (key->max == INT64_MAX)
		return; /* what the type holds is no bound that anybody meets */
	if (key->min != 0 && key->min != INT64_MIN)
		str_addf(out, ", %" PRId64 "%s to ", key->min, unit);
	else
		str_add_text(out, ", at most ");
	str_addf(out, "%" PRIu64 "%s", cpu ? key->max / 1000 : key->max, unit);
	if (key->min > 0 && key->flags & SCHEMA_ZERO)
		str_add_text(out, ", or 0");
	if (key->flags & SCHEMA_CLAMP)
		str_add_text(out, "; more is lowered");
}

void key_docs_type(const struct schema_key *key, struct str *out)
{
	bool number = key->type >= SCHEMA_CPU && key->type <= SCHEMA_SIZE;

	str_add_text(out, type_word(key));
	for (size_t i = 0; key->choices && key->choices[i]; i++)
		str_addf(out, "%s%s", i ? ", " : ": ", key->choices[i]);
	if (number && key->max)
		add_bounds(key, out);
	if (key->max_items)
		str_addf(out, ", at most %zu", key->max_items);
	if (key->max_bytes)
		str_addf(out, ", at most %zu bytes%s", key->max_bytes,
			key->type == SCHEMA_LIST ? " each" : "");
	if (key->flags & SCHEMA_REQUIRED)
		str_add_text(out, ", required");
}

/* A pipe would end the cell. */
static void add_cell(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			str_add_char(out, '\\');
		str_add_char(out, *text);
	}
}

static void add_default(struct str *out, const char *text, const char *before)
{
	str_addf(out, "%s`", before);
	add_cell(out, text[0] ? text : "\"\"");
	str_add_char(out, '`');
}

static void add_section(const struct schema *s, const char *path, struct str *out)
{
	str_add_text(out, "\n");
	if (s->doc)
		str_addf(out, "%s\n\n", s->doc);
	str_add_text(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct schema_key *key = &s->keys[i];
		str_addf(out, "| `%s` | ", key->name);
		key_docs_type(key, out);
		str_add_text(out, " | ");
		if (key->fallback)
			add_default(out, key->fallback, "");
		for (size_t k = 0; key->fallback_items && key->fallback_items[k]; k++)
			add_default(out, key->fallback_items[k], k ? ", " : "");
		str_add_text(out, " | ");
		add_cell(out, key->doc ? key->doc : "");
		str_add_text(out, " |\n");
	}
	for (size_t i = 0; i < s->n; i++) {
		AUTO(str) below = STR_INIT(NODE_PATH_MAX);
		const struct schema_key *key = &s->keys[i];
		if (!key->section)
			continue;
		str_addf(&below, "%s%s%s%s", path, path[0] ? "." : "", key->name,
			key->type == SCHEMA_ENTRIES ? "[]" : "");
		str_addf(out, "\n## `%s`\n", str_text(&below));
		add_section(key->section, str_text(&below), out);
	}
}

void key_docs_markdown(const struct schema *s, const char *title, struct str *out)
{
	if (title)
		str_addf(out, "# %s\n", title);
	add_section(s, "", out);
}
