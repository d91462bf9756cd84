/* What the image says that it carries, against what the run wants (image-trust.md §10). */
#pragma once

#include "base/json.h"
#include "base/strv.h"
#include "executor/container/driver/image-store.h"

/*
 * Every wanted program must be in the image's label, for an image of any origin; an image without
 * the label carries everything. wanted NULL: nothing is. -1: sandbox_image_lacks_harness, which
 * names the first that is not there.
 */
must_check int image_harness_pass(
	const struct stored_image *image, const struct strv *wanted, struct error *err);

/* {"result": absent or ok, "wanted", "carries"}, for who explains a run that passes. */
must_check json_t *image_harness_to_json(
	const struct stored_image *image, const struct strv *wanted);
