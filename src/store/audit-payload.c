#include "store/audit-payload.h"

#include <string.h>

#include "base/json.h"
#include "base/scrub.h"

static const char *const exact[] = {"image", "project"};

static bool is_exact(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		if (strcmp(exact[i], key) == 0)
			return true;
	return false;
}

static json_t *clean(const json_t *value);

static json_t *clean_text(const json_t *value)
{
	AUTO(str) out = STR_INIT(AUDIT_PAYLOAD_TEXT_MAX + 8);

	scrub_add(&out, json_text(value), AUDIT_PAYLOAD_TEXT_MAX);
	return json_stringn(str_text(&out), out.len);
}

static json_t *clean_object(json_t *object)
{
	json_t *result = json_object(), *value;
	const char *key;

	json_object_foreach(object, key, value)
	{
		bool keep = is_exact(key) && json_is_string(value);
		json_object_set_new(result, key, keep ? json_incref(value) : clean(value));
	}
	return result;
}

static json_t *clean_array(const json_t *array)
{
	json_t *result = json_array();

	for (size_t i = 0; i < json_array_size(array); i++)
		json_array_append_new(result, clean(json_array_get(array, i)));
	return result;
}

static json_t *clean(const json_t *value)
{
	if (json_is_string(value))
		return clean_text(value);
	if (json_is_object(value))
		return clean_object((json_t *)(uintptr_t)value);
	return json_is_array(value) ? clean_array(value) : json_deep_copy(value);
}

char *audit_payload_write(const json_t *payload)
{
	auto_json *kept = clean(payload);

	return json_write(kept);
}
