/*
 * executors.published_images of config.yaml: which images are cloop's own, and who signs them
 * (image-trust.md §9). Pure.
 */
#pragma once

#include "image/reference.h"
#include "schema/schema.h"

enum { PUBLISHED_REPOSITORIES_MAX = 16 };

/* A zeroed one has no images. */
struct published_images {
	struct schema_list repositories; /* REGISTRY/REPOSITORY in normal form */
	char *issuer;
	char *subject_regexp;
};
void published_images_done(struct published_images *p);

/* Bound to a struct published_images that holds the defaults (schema_defaults()). */
extern const struct schema published_images_schema;

/* Is it one of them, by its name? */
bool published_images_have(const struct published_images *p, const struct image_reference *r);
