/*
 * The signature of the image that runs (image-trust.md §4 step 3, §5.1 step 6, §5.3): what the pin
 * leads to by the policy, and which of the pinned digests is the one that a signature is for.
 */
#pragma once

#include "executor/container/driver/run-image.h"

/*
 * After the pin, before anything of the run exists. On success the identity in *i is that of the
 * digest that was verified, where one had to be. -1: sandbox_image_denied (signature-required,
 * policy-configuration), start_cancelled, and what trust_verify() names.
 */
must_check int image_signature_settle(
	const struct run_image_question *q, struct run_image *i, struct error *err);
