#include "runner/case.h"

#include "base/mem.h"
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

static const char *const parse_fields[] = {"ref", "ref_b64", NULL};

const struct case_kind case_image_kinds[] = {{"parse", parse_fields, run_parse}, {0}};
