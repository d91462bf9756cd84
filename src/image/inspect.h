/*
 * The answer of `ENGINE image inspect -- REFERENCE`, a call that never pulls (image-trust.md §5.1).
 * Nothing here calls the engine.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"
#include "image/reference.h"

/* Whose store: engines list names and digests differently (measured, §5.1). */
enum image_store { IMAGE_STORE_PODMAN, IMAGE_STORE_DOCKER };

/*
 * The one object in a successful call's stdout, at most 4 MiB. NULL: ERROR_ENGINE_FAILED. Caller
 * frees.
 */
must_check json_t *image_inspect_read(struct text output, struct error *err);
/*
 * What a failed call's stderr says of the reference: -1 with ERROR_ENGINE_FAILED or
 * ERROR_IMAGE_MISSING, or 0: it is about something else (an error of the engine, which the driver
 * explains).
 */
must_check int image_inspect_explain(enum image_store store, const struct image_reference *asked,
	struct text words, struct error *err);
/* ERROR_IMAGE_MISSING with the pull command as remedy. Always -1. */
int image_inspect_missing(
	enum image_store store, const struct image_reference *asked, struct error *err);

/* A label of the image (`Config.Labels`): a view into inspect; p = NULL when it has none. */
struct text image_inspect_label(const json_t *inspect, const char *key);
/* `Architecture` as the engine prints it, "amd64": a view into inspect; p = NULL when absent. */
struct text image_inspect_architecture(const json_t *inspect);
