/*
 * Is an image signed as a policy wants it (image-trust.md §8)? The policy's keys and identities,
 * the cache of successes, one process at a time for one question, one deadline for all of it.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "image/policy.h"

/* Of the lock files of verifications below <home>/locks. */
#define TRUST_LOCK_PREFIX "verify-"

struct trust_question {
	const struct image_policy *policy;   /* keys, identities */
	const struct image_reference *image; /* with the digest in question */
	const char *home;                    /* cloop's, resolved */
	int64_t deadline_ms;                 /* trust_deadline() */
	int cancel_fd;                       /* readable = give up; -1 = none */
};

enum trust_end {
	TRUST_VERIFIED,
	TRUST_FAILED,    /* by every key and identity */
	TRUST_MISSING,   /* there is no cosign */
	TRUST_TIMED_OUT, /* also while somebody else asked the same */
	TRUST_NEVER,     /* no signature can be of this image: it has no digest or no registry */
	TRUST_BAD_KEY,   /* a key file cannot be used */
	TRUST_END_COUNT
};
/* The `detail` of a refusal (§8.1); "" where there is none. */
const char *trust_end_detail(enum trust_end e);

struct trust_answer {
	enum trust_end end;
	/* "" when verified. What cosign wrote is made harmless. */
	char reason[ERROR_TEXT_MAX + 1];
	char remedy[ERROR_TEXT_MAX + 1];
	json_t *attempts; /* {"with": WHAT, "output": LINE} of each that failed; NULL = none */
};
void trust_answer_done(struct trust_answer *a);

/* The moment (boottime) until which everything that is asked for one run has to be known. */
int64_t trust_deadline(void);

/*
 * Returns 0 and the answer, which the caller releases. -1: start_cancelled; auth_file_broken,
 * auth_entry_broken (the login that cosign would get); io. A store that cannot be used costs the
 * cache, not the verification.
 */
must_check int trust_verify(
	const struct trust_question *q, struct trust_answer *ret, struct error *err);
