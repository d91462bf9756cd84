#include "run/denial.h"

#include <string.h>

#include "base/json.h"
#include "image/verdict.h"
#include "spec/spec-load.h"

static int accept(struct text image, struct error *err)
{
	(void)image;
	(void)err;
	return 0;
}

static bool is_incomplete(const struct error *refusal)
{
	const char *rule = json_get_string(refusal->details, "rule");

	return rule && strcmp(rule, image_rule_text(IMAGE_RULE_POLICY_CONFIGURATION)) == 0 &&
	       !json_object_get(refusal->details, "image");
}

void denial_complete(const char *project_dir, struct error *refusal)
{
	static const struct spec_checks checks = {.image = accept};
	const char *rule = image_rule_text(IMAGE_RULE_POLICY_CONFIGURATION);
	auto_error struct error ignored = ERROR_INIT;
	AUTO(spec_result) file;
	struct image_verdict v;

	if (!is_incomplete(refusal))
		return;
	spec_result_init(&file);
	bool named = spec_load_dir(project_dir, &checks, &file, &ignored) == 0 && file.spec.image;
	struct text image = text_of(named ? file.spec.image : "");
	image_verdict_broken(image, refusal, &v);
	image_verdict_details(
		&v, named ? IMAGE_ORIGIN_PROJECT : IMAGE_ORIGIN_OPERATOR, image, refusal);
	if (named)
		error_prefix(refusal, "image %s is refused (rule: %s)", quoted(image), rule);
	else
		error_prefix(refusal, "the image is refused (rule: %s)", rule);
}
