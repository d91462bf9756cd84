/* Parsing with the real image grammar, for the tests of this folder. */
#pragma once

#include "unit/unit.h"

#include "image/reference.h"
#include "spec/spec.h"

static inline int unit_check_image(struct text t, struct error *err)
{
	struct image_reference ignored;

	return image_reference_parse(t, &ignored, err);
}

static const struct spec_checks unit_checks = {.image = unit_check_image};

static inline void unit_parse(const char *yaml, struct spec_result *ret)
{
	spec_parse(text_of(yaml), &unit_checks, ret);
}
