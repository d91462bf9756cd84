#include "executor/container/driver/image-harness.h"

#include "image/harness.h"

static enum harness_result judge(
	const struct stored_image *image, const char *wanted, struct strv *ret_names)
{
	const json_t *labels = json_object_get(json_object_get(image->inspect, "Config"), "Labels");

	return harness_judge(json_get_text(labels, HARNESS_LABEL), wanted, ret_names);
}

int image_harness_pass(
	const struct stored_image *image, const struct strv *wanted, struct error *err)
{
	for (size_t i = 0; wanted && i < wanted->n; i++) {
		AUTO(strv) names = HARNESS_NAMES_INIT;
		if (judge(image, wanted->v[i], &names) == HARNESS_LACKS)
			return harness_lacks(image->identity.image, wanted->v[i], &names, err);
	}
	return 0;
}

json_t *image_harness_to_json(const struct stored_image *image, const struct strv *wanted)
{
	AUTO(strv) names = HARNESS_NAMES_INIT;
	enum harness_result result = judge(image, "", &names);

	return json_pack("{s:s, s:o, s:o}", "result", harness_result_text(result), "wanted",
		json_from_strings(wanted->v, wanted->n), "carries",
		json_from_strings(names.v, names.n));
}
