#include "image/derived.h"

#include "base/json.h"

enum { LABEL_LINES = 2 };

static const json_t *layers_of(const json_t *inspect)
{
	return json_object_get(json_object_get(inspect, "RootFS"), "Layers");
}

static bool begins_with(const json_t *list, const json_t *start)
{
	size_t i;
	json_t *item;

	if (!json_is_array(list) || !json_is_array(start) ||
		json_array_size(list) < json_array_size(start))
		return false;
	json_array_foreach(
		start, i, item) if (!json_equal(item, json_array_get(list, i))) return false;
	return true;
}

bool derived_matches(
	const json_t *inspect, const json_t *base, const struct setup_facts *f, const char *key)
{
	return text_is(image_inspect_label(inspect, SETUP_LABEL_BASE), f->base) &&
	       text_is(image_inspect_label(inspect, SETUP_LABEL_KEY), key) &&
	       begins_with(layers_of(inspect), layers_of(base));
}

bool derived_base_has_triggers(const json_t *base)
{
	return json_array_size(json_object_get(json_object_get(base, "Config"), "OnBuild")) > 0;
}

bool derived_history_matches(const json_t *inspect, const json_t *base, const struct setup_facts *f)
{
	const json_t *after = json_object_get(inspect, "History");
	const json_t *before = json_object_get(base, "History");
	size_t i;
	json_t *entry;

	if (json_array_size(after) != json_array_size(before) + LABEL_LINES + f->n_commands)
		return false;
	json_array_foreach(before, i, entry)
	{
		struct text was = json_get_text(entry, "created_by");
		if (!text_equal(was, json_get_text(json_array_get(after, i), "created_by")))
			return false;
	}
	return true;
}
