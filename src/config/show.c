#include "config/show.h"

#include "base/json.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/source.h"
#include "yaml/reader.h"

struct show {
	const struct tree *tree;
	const struct config *config;
	json_t *values;
};

static json_t *items_of(const struct schema_key *key)
{
	json_t *list = json_array();

	for (size_t i = 0; key->fallback_items[i]; i++)
		json_array_append_new(list, json_string(key->fallback_items[i]));
	return list;
}

/* The default as a file would hold it. */
static json_t *fallback_of(const struct show *s, const char *path, const struct schema_key *key)
{
	struct node n = {.kind = NODE_SCALAR, .plain = true};

	if (strcmp(path, "executors.default") == 0)
		return json_from_string(config_default_executor(s->config));
	if (key->fallback_items)
		return items_of(key);
	if (!key->fallback)
		return key->type == SCHEMA_LIST || key->type == SCHEMA_ENTRIES ? json_array()
									       : json_null();
	n.text = text_of(key->fallback);
	return n.text.len ? node_to_json(&n) : json_string("");
}

static void show_key(void *data, const char *path, const struct schema_key *key)
{
	struct show *s = data;
	const struct node *n = s->tree->root ? node_find(s->tree->root, path) : NULL;
	bool given = n && !node_is_null(n);

	json_array_append_new(
		s->values, json_pack("{s:s, s:o, s:s, s:o}", "key", path, "value",
				   given ? node_to_json(n) : fallback_of(s, path, key), "origin",
				   given ? "file" : "default", "line",
				   given ? json_integer(n->at.line) : json_null()));
}

static int read_file(const char *path, struct config *config, struct str *bytes, bool *ret_present,
	struct error *err)
{
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	mode_t mode;
	int found = path ? source_read(path, bytes, &mode, err) : 1;

	if (found < 0)
		return -1;
	*ret_present = found == 0;
	struct text text = {str_text(bytes), bytes->len};
	return config_parse(text, config, &errors, &warnings) == 0
		       ? 0
		       : config_refuse(&errors, path, err);
}

int show_config(const char *path, const char *key, json_t **ret, struct error *err)
{
	AUTO(str) bytes = STR_INIT(CONFIG_MAX_BYTES + 1);
	AUTO(problems) none = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(config) config = {0};
	AUTO(tree) tree = TREE_INIT;
	struct reader_rules rules = {.max_events = READER_CONFIG_EVENTS};
	bool present = false;

	if (key && !keys_find(key, err))
		return -1;
	if (read_file(path, &config, &bytes, &present, err) < 0)
		return -1;
	/* It was judged before: there is nothing to find. */
	if (reader_read((struct text){str_text(&bytes), bytes.len}, &rules, &none, &tree) != 0)
		return config_refuse(&none, path, err);
	struct show s = {&tree, &config, json_array()};
	keys_each(key ? key : "", show_key, &s);
	*ret = json_pack("{s:o, s:b, s:o}", "path", json_from_string(path), "present", present,
		"values", s.values);
	return 0;
}

void show_text(const json_t *shown, struct str *out)
{
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(shown, "values"), i, v)
	{
		json_t *line = json_object_get(v, "line");
		auto_free char *value =
			json_dumps(json_object_get(v, "value"), JSON_ENCODE_ANY | JSON_COMPACT);
		str_addf(out, "%s: %s  # ", json_get_string(v, "key"), value ? value : "null");
		if (json_is_integer(line))
			str_addf(out, "line %lld\n", (long long)json_integer_value(line));
		else
			str_add_text(out, "default\n");
	}
}
