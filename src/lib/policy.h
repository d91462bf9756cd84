/* Image policies between the library's callers and the tree (include/cloop/image.h). */
#pragma once

#include "base/error.h"
#include "cloop/image.h"
#include "image/policy.h"

/*
 * By the table of sandbox.image_policy: its rules are config.yaml's. Errors: sandbox_image_denied,
 * naming the first thing that is wrong. *ret is written on success only.
 */
must_check int lib_policy_read(
	const struct cloop_image_policy *in, struct image_policy *ret, struct error *err);
