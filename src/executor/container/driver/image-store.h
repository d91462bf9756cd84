/* The engine's own image store: from an allowed reference to what is run (image-trust.md §5.1). */
#pragma once

#include "base/strv.h"
#include "executor/container/driver/image-answers.h"
#include "image/identity.h"

struct stored_image {
	struct image_identity identity;
	json_t *inspect;     /* image_answers_get() */
	struct strv volumes; /* targets of the image's VOLUME list */
	bool has_user;       /* the image names a USER */
};
#define STORED_IMAGE_INIT ((struct stored_image){.volumes = STRV_INIT(256)})
void stored_image_done(struct stored_image *i);

/*
 * Never pulls. Errors: image_missing (the remedy holds the pull command), engine_failed and the
 * engine's others.
 */
must_check int image_store_look_up(struct image_answers *answers, const char *reference,
	struct stored_image *ret, struct error *err);
