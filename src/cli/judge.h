/* What files and images are judged with, as every command does it. */
#pragma once

#include "image/verdict.h"
#include "spec/spec.h"

struct cli;

extern const struct spec_checks judge_spec_checks;

/* The row of judge_origin() in a command's options. */
#define JUDGE_ORIGIN_OPTION \
	{ \
		"--origin", "WHO", "who chose the image: project (default) or operator", \
			"project operator", false \
	}

/* Who chose the image, by a command's --origin. */
enum image_origin judge_origin(struct cli *c, struct text image);

/*
 * The verdict of the operator's policy on an image. A configuration that cannot be used refuses
 * every image (image-trust.md §3.2). Neither network nor engine is touched.
 */
void judge_image(
	struct cli *c, enum image_origin origin, struct text image, struct image_verdict *ret);
