#include "cli/judge.h"

#include "image/reference.h"

static int image(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

const struct spec_checks judge_spec_checks = {.image = image};
