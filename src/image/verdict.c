#include "image/verdict.h"

#include <stdio.h>

static void refuse(struct image_verdict *v, const char *rule, const struct error *why)
{
	v->rule = rule;
	snprintf(v->reason, sizeof(v->reason), "%s", why->message);
	snprintf(v->remedy, sizeof(v->remedy), "%s", error_remedy(why));
}

void image_verdict_inactive(struct text image, struct image_verdict *ret)
{
	auto_error struct error err = ERROR_INIT;

	*ret = (struct image_verdict){.rule = "", .detail = ""};
	if (image_reference_parse(image, &ret->ref, &err) < 0) {
		refuse(ret, "reference-syntax", &err);
		ret->detail = error_code_text(err.code);
		return;
	}
	ret->allowed = true;
	ret->needs_pin = ret->ref.digest[0] == '\0';
	image_reference_run_as(&ret->ref, ret->run_as);
}

void image_verdict_broken(struct text image, const struct error *why, struct image_verdict *ret)
{
	auto_error struct error ignored = ERROR_INIT;

	*ret = (struct image_verdict){.rule = "", .detail = ""};
	if (image_reference_parse(image, &ret->ref, &ignored) < 0)
		ret->ref = (struct image_reference){0};
	refuse(ret, "policy-configuration", why);
}
