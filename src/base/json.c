#include "base/json.h"

#include "base/mem.h"

/* jansson's words quote the bytes that it stopped at, as they are. */
static void set_not_json(
	const json_error_t *where, const char *what, enum error_code code, struct error *err)
{
	AUTO(str) words = STR_INIT(4 * JSON_ERROR_TEXT_LENGTH);

	text_escape(&words, text_of(where->text), JSON_ERROR_TEXT_LENGTH);
	error_set(err, code, "%s is not JSON: line %d: %s", what, where->line, str_text(&words));
}

json_t *json_read(
	struct text bytes, size_t max, const char *what, enum error_code code, struct error *err)
{
	json_error_t where;

	if (bytes.len > max) {
		error_set(err, code, "%s is larger than %zu bytes", what, max);
		return NULL;
	}
	json_t *value = json_loadb(bytes.p ? bytes.p : "", bytes.len,
		JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &where);
	if (!value)
		set_not_json(&where, what, code, err);
	return value;
}

static char *dump(const json_t *value, size_t flags)
{
	char *text = json_dumps(value, flags | JSON_ENCODE_ANY);

	return text ? text : mem_strdup("null");
}

char *json_write(const json_t *value)
{
	return dump(value, JSON_COMPACT);
}

char *json_write_pretty(const json_t *value)
{
	return dump(value, JSON_INDENT(2));
}

struct text json_text(const json_t *value)
{
	return (struct text){json_string_value(value), json_string_length(value)};
}

struct text json_get_text(const json_t *object, const char *key)
{
	return json_text(json_object_get(object, key));
}

const char *json_get_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool json_get_bool(const json_t *object, const char *key, bool absent)
{
	const json_t *value = json_object_get(object, key);

	return json_is_boolean(value) ? json_is_true(value) : absent;
}

int64_t json_get_int(const json_t *object, const char *key, int64_t absent)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : absent;
}

json_t *json_from_bytes(struct text t)
{
	if (utf8_valid(t))
		return json_stringn(t.p ? t.p : "", t.len);
	AUTO(str) out = STR_INIT(t.len * 4 + 1);
	text_escape(&out, t, t.len);
	return json_stringn(str_text(&out), out.len);
}

json_t *json_from_string(const char *s)
{
	return s ? json_from_bytes(text_of(s)) : json_null();
}

json_t *json_from_count(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

bool json_list_has(const json_t *list, const char *text)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (text_is(json_text(json_array_get(list, i)), text))
			return true;
	return false;
}

json_t *json_from_strings(char *const *v, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_from_string(v[i]));
	return list;
}

json_t *json_exact(const char *s)
{
	struct text t = text_of(s);

	if (!s)
		return json_null();
	if (utf8_valid(t))
		return json_stringn(t.p, t.len);
	auto_free char *hex = mem_alloc(2 * t.len + 1);
	hex_encode(t.p, t.len, hex);
	return json_pack("{s:s}", "hex", hex);
}

char *json_exact_bytes(const json_t *value)
{
	struct text hex = json_get_text(value, "hex");

	if (json_is_string(value))
		return mem_strndup(json_string_value(value), json_string_length(value));
	if (!hex.p || hex.len % 2)
		return NULL;
	char *bytes = mem_alloc(hex.len / 2 + 1);
	if (hex_decode(hex, bytes, hex.len / 2) == 0)
		return bytes;
	free(bytes);
	return NULL;
}

json_t *json_exact_list(const struct strv *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(array, json_exact(list->v[i]));
	return array;
}

int json_exact_list_bytes(const json_t *array, struct strv *ret)
{
	size_t i;
	json_t *item;

	if (!json_is_array(array))
		return -1;
	json_array_foreach(array, i, item)
	{
		char *s = json_exact_bytes(item);
		if (!s || strv_take(ret, s) < 0)
			return -1;
	}
	return 0;
}
