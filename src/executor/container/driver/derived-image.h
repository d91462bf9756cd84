/*
 * The image that a run with `setup:` runs (image-trust.md §11): found by its key, or built, once.
 */
#pragma once

#include "executor/container/driver/run-image.h"

/* The network of the build follows that of the run (§11.3). */
void derived_image_network(const struct container_driver *d, const struct container_request *r,
	char out[DERIVED_NETWORK_SIZE]);

/*
 * Nothing to do without setup commands. Else image->build is filled, and image->run and id name the
 * derived image; with q->look_only nothing is locked or built, and what would be built has no ID
 * yet. Errors: invalid_setup, those of derived_build_run(), start_cancelled.
 */
must_check int derived_image_settle(const struct run_image_question *q,
	struct image_answers *answers, struct run_image *image, struct error *err);
