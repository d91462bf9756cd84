#include "config/template.h"

#include "config/config.h"
#include "config/edit.h"
#include "config/keys.h"

enum { INDENT = 2 };

static void add_indent(struct str *out, size_t depth)
{
	for (size_t i = 0; i < depth * INDENT; i++)
		str_add_char(out, ' ');
}

static void add_comment(struct str *out, size_t depth, const char *comment)
{
	struct text rest = text_of(comment), line;

	while (text_split(&rest, '\n', &line)) {
		add_indent(out, depth);
		str_add_text(out, line.len > 0 ? "# " : "#");
		text_escape(out, line, line.len);
		str_add_char(out, '\n');
	}
}

/* How many leading components two paths share, the last one of each left out. */
static size_t shared_sections(const char *a, const char *b)
{
	size_t shared = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (a[i] == '.')
			shared++;
	return shared;
}

/* Headers of the sections that the entry before did not open; depth of the key. */
static size_t add_sections(struct str *out, const char *before, const char *path)
{
	size_t open = shared_sections(before, path), depth = 0;
	struct text rest = text_of(path), part;

	while (text_split(&rest, '.', &part) && rest.p) {
		if (depth >= open) {
			add_indent(out, depth);
			str_addf(out, "%.*s:\n", (int)part.len, part.p);
		}
		depth++;
	}
	return depth;
}

static int add_entry(
	struct str *out, const char *before, const struct template_entry *entry, struct error *err)
{
	const struct schema_key *key = keys_find(entry->key, err);
	const char *dot = strrchr(entry->key, '.');
	const char *name = dot ? dot + 1 : entry->key;

	if (!key)
		return -1;
	size_t depth = add_sections(out, before, entry->key);
	if (entry->comment)
		add_comment(out, depth, entry->comment);
	add_indent(out, depth);
	if (!entry->values) {
		str_addf(out, "# %s: %s\n", name,
			key->fallback && key->fallback[0] ? key->fallback : "");
		return 0;
	}
	str_addf(out, "%s: ", name);
	edit_write_values(out, key, entry->values);
	str_add_char(out, '\n');
	return 0;
}

static int judge(const struct str *text, struct error *err)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	AUTO(config) config = {0};

	if (config_parse((struct text){str_text(text), text->len}, &config, &errors, &warnings) ==
		0)
		return 0;
	return config_refuse(&errors, "the new file", err);
}

int template_render(const char *head, const struct template_entry *entries, size_t n,
	struct str *ret, struct error *err)
{
	if (head)
		add_comment(ret, 0, head);
	for (size_t i = 0; i < n; i++)
		if (add_entry(ret, i ? entries[i - 1].key : "", &entries[i], err) < 0)
			return -1;
	if (str_full(ret))
		return error_set(err, ERROR_USAGE, "the file would be too large");
	return judge(ret, err);
}
