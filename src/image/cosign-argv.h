/* What cosign is called with (image-trust.md §8.1). Pure; nothing is started here. */
#pragma once

#include "base/error.h"
#include "base/strv.h"
#include "image/policy.h"

enum { COSIGN_ATTEMPTS_MAX = POLICY_KEYS_MAX + POLICY_IDENTITIES_MAX, COSIGN_WORDS_MAX = 16 };

/* One argv per attempt, in their order; the first that succeeds is enough. argv[0] is "cosign". */
struct cosign_attempts {
	struct strv argv[COSIGN_ATTEMPTS_MAX];
	size_t n;
};
void cosign_attempts_done(struct cosign_attempts *a);

/*
 * All keys, then all identities, in the order of the file, duplicates once. Returns 0, or -1 for an
 * image that is never verified (no digest, no registry, a name of localhost): sandbox_image_denied,
 * the caller knows the rule is signature-required.
 */
must_check int cosign_argv_build(const struct image_policy *p, const struct image_reference *r,
	struct cosign_attempts *ret, struct error *err);
