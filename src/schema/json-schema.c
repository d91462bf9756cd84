#include "schema/json-schema.h"

/* A type and null: a key with null is absent. */
static json_t *types(const char *const *names)
{
	json_t *list = json_array();

	for (; *names; names++)
		json_array_append_new(list, json_string(*names));
	return list;
}

static void set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static void set_text_rules(json_t *o, const struct schema_key *key)
{
	if (key->pattern)
		set(o, "pattern", json_string(key->pattern));
	if (key->max_bytes)
		set(o, "maxLength", json_integer((json_int_t)key->max_bytes));
	if (key->choices && !(key->flags & SCHEMA_NO_CASE)) {
		json_t *words = types(key->choices);
		json_array_append_new(words, json_null());
		set(o, "enum", words);
	} else if (key->choices) {
		set(o, "examples", types(key->choices));
	}
}

static json_t *text_schema(const struct schema_key *key, bool item)
{
	static const char *const value[] = {"string", "number", "boolean", "null", NULL};
	static const char *const in_list[] = {"string", "number", "boolean", NULL};
	json_t *o = json_object();

	set(o, "type", types(item ? in_list : value));
	set_text_rules(o, key);
	return o;
}

static json_t *number_schema(const struct schema_key *key)
{
	static const char *const whole[] = {"integer", "string", "null", NULL};
	static const char *const decimal[] = {"number", "string", "null", NULL};
	bool cpu = key->type == SCHEMA_CPU, size = key->type == SCHEMA_SIZE;
	bool from_min = key->type == SCHEMA_SIGNED || (key->min > 0 && !(key->flags & SCHEMA_ZERO));
	json_t *o = json_object();

	set(o, "type", types(cpu ? decimal : whole));
	set(o, "minimum", json_integer(from_min ? (json_int_t)key->min : 0));
	if (!(key->flags & SCHEMA_CLAMP))
		set(o, "maximum", json_integer((json_int_t)(cpu ? key->max / 1000 : key->max)));
	if (size)
		set(o, "pattern", json_string("^\\s*(0|[1-9][0-9]*)[bkmgtBKMGT]?\\s*$"));
	else if (cpu)
		set(o, "pattern", json_string("^\\s*(0|[1-9][0-9]*)([.][0-9]+)?\\s*$"));
	else
		set(o, "pattern", json_string("^\\s*-?(0|[1-9][0-9]*)\\s*$"));
	return o;
}

static json_t *mapping_schema(const struct schema *s, bool item);

static json_t *list_schema(const struct schema_key *key)
{
	static const char *const list[] = {"array", "null", NULL};
	json_t *o = json_object();

	set(o, "type", types(list));
	set(o, "items",
		key->type == SCHEMA_ENTRIES ? mapping_schema(key->section, true)
					    : text_schema(key, true));
	if (key->max_items)
		set(o, "maxItems", json_integer((json_int_t)key->max_items));
	return o;
}

static json_t *key_schema(const struct schema_key *key)
{
	static const char *const boolean[] = {"boolean", "null", NULL};

	switch (key->type) {
	case SCHEMA_TEXT:
		return text_schema(key, false);
	case SCHEMA_BOOLEAN:
		return json_pack("{s:o}", "type", types(boolean));
	case SCHEMA_CPU:
	case SCHEMA_INTEGER:
	case SCHEMA_SIGNED:
	case SCHEMA_SIZE:
		return number_schema(key);
	case SCHEMA_LIST:
	case SCHEMA_ENTRIES:
		return list_schema(key);
	case SCHEMA_SECTION:
		return mapping_schema(key->section, false);
	case SCHEMA_CUSTOM:
	default:
		return json_object();
	}
}

static json_t *mapping_schema(const struct schema *s, bool item)
{
	static const char *const mapping[] = {"object", "null", NULL};
	json_t *o = json_object(), *properties = json_object(), *required = json_array();

	set(o, "type", item ? json_string("object") : types(mapping));
	for (size_t i = 0; i < s->n; i++) {
		const struct schema_key *key = &s->keys[i];
		json_t *k = key_schema(key);
		if (key->doc)
			set(k, "description", json_string(key->doc));
		set(properties, key->name, k);
		if (key->flags & SCHEMA_REQUIRED)
			json_array_append_new(required, json_string(key->name));
	}
	set(o, "properties", properties);
	if (json_array_size(required) > 0)
		json_object_set(o, "required", required);
	json_decref(required);
	set(o, "additionalProperties", json_false());
	return o;
}

json_t *json_schema_of(const struct schema *s, const char *id, const char *title)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "$schema",
		"http://json-schema.org/draft-07/schema#", "$id", id, "title", title);

	json_t *body = mapping_schema(s, false);
	if (s->doc)
		set(o, "description", json_string(s->doc));
	json_object_update(o, body);
	json_decref(body);
	return o;
}
