#include "image/inspect.h"

#include "image/missing.h"

#include "base/json.h"

enum { OUTPUT_MAX = 4 << 20 };

json_t *image_inspect_read(struct text output, struct error *err)
{
	auto_json *list =
		json_read(output, OUTPUT_MAX, "answer of image inspect", ERROR_ENGINE_FAILED, err);
	json_t *object = json_array_get(list, 0);

	if (!list)
		return NULL;
	if (json_array_size(list) != 1 || !json_is_object(object)) {
		error_set(err, ERROR_ENGINE_FAILED,
			"answer of image inspect is not exactly one object");
		return NULL;
	}
	return json_incref(object);
}

int image_inspect_missing(
	enum image_store store, const struct image_reference *asked, struct error *err)
{
	const char *engine = store == IMAGE_STORE_DOCKER ? "docker" : "podman";
	char run_as[IMAGE_TEXT_MAX + 1];

	image_reference_run_as(asked, run_as);
	error_set(err, ERROR_IMAGE_MISSING, "image %s is not in the store of %s",
		quoted_string(run_as), engine);
	auto_free char *remedy =
		image_missing_remedy(engine, text_of(run_as), IMAGE_ORIGIN_PROJECT);
	return error_set_remedy(err, "%s", remedy);
}

static bool has_nocase(struct text t, const char *needle)
{
	for (; t.len > 0; t = text_after(t, 1))
		if (text_starts_nocase(t, needle))
			return true;
	return false;
}

int image_inspect_explain(enum image_store store, const struct image_reference *asked,
	struct text words, struct error *err)
{
	char run_as[IMAGE_TEXT_MAX + 1];

	image_reference_run_as(asked, run_as);
	/* docker says this together with "no such image". */
	if (has_nocase(words, "invalid reference format"))
		return error_set(err, ERROR_ENGINE_FAILED,
			"the engine does not take the image reference %s", quoted_string(run_as));
	if (has_nocase(words, "no such image") || has_nocase(words, "image not known"))
		return image_inspect_missing(store, asked, err);
	return 0;
}

struct text image_inspect_label(const json_t *inspect, const char *key)
{
	return json_get_text(json_object_get(json_object_get(inspect, "Config"), "Labels"), key);
}

struct text image_inspect_architecture(const json_t *inspect)
{
	return json_get_text(inspect, "Architecture");
}
