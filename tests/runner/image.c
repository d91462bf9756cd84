#include "runner/case.h"

#include "base/mem.h"
#include "image/identity.h"
#include "image/reference.h"

static json_t *error_answer(const struct error *err)
{
	return json_pack("{s:s}", "error", error_code_text(err->code));
}

/* The text of a case: `ref`, or the bytes of `ref_b64` (then *owned holds them). */
static struct text case_reference(json_t *c, char **owned)
{
	struct text encoded = json_get_text(c, "ref_b64");

	if (!encoded.p)
		return json_get_text(c, "ref");
	struct text bytes = case_base64(encoded);
	*owned = (char *)(uintptr_t)bytes.p;
	return bytes;
}

static void run_parse(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	auto_free char *owned = NULL;
	struct image_reference ref;
	char canonical[IMAGE_TEXT_MAX + 1];

	if (image_reference_parse(case_reference(c, &owned), &ref, &err) < 0) {
		case_subset(r, c, error_answer(&err));
		return;
	}
	image_reference_canonical(&ref, canonical);
	case_subset(r, c,
		json_pack("{s:s, s:s, s:s, s:s, s:b, s:s}", "registry", ref.registry, "repository",
			ref.repository, "tag", ref.tag, "digest", ref.digest, "qualified",
			(int)ref.qualified, "canonical", canonical));
}

static json_t *identity_json(const struct image_identity *i)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:b}", "run", i->run, "image", i->image,
		"digest", i->digest, "id", i->id, "reproducible", (int)i->reproducible);

	if (i->n_candidates > 0) {
		json_t *list = json_array();
		for (size_t k = 0; k < i->n_candidates; k++)
			json_array_append_new(list, json_string(i->candidates[k]));
		json_object_set_new(o, "candidates", list);
	}
	if (i->warning)
		json_object_set_new(o, "warning", json_string(i->warning));
	return o;
}

static void run_pin(json_t *c, struct case_result *r)
{
	auto_error struct error err = ERROR_INIT;
	enum image_store store = text_is(json_get_text(c, "engine"), "docker") ? IMAGE_STORE_DOCKER
									       : IMAGE_STORE_PODMAN;
	struct image_reference ref;
	struct image_identity identity;

	if (image_reference_parse(json_get_text(c, "ref"), &ref, &err) < 0 ||
		image_identity_choose(store, &ref, json_object_get(c, "inspect"), &identity, &err) <
			0)
		case_subset(r, c, error_answer(&err));
	else
		case_subset(r, c, identity_json(&identity));
}

static const char *const parse_fields[] = {"ref", "ref_b64", NULL};
static const char *const pin_fields[] = {"engine", "ref", "inspect", NULL};

const struct case_kind case_image_kinds[] = {
	{"parse", parse_fields, run_parse},
	{"pin", pin_fields, run_pin},
	{0},
};
