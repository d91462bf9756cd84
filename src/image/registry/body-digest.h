/* What a body hashes to, counted while it arrives (image-trust.md §6.1). */
#pragma once

#include "base/text.h"
#include "image/reference.h"

/* SHA-256 and SHA-512 at once: the registry chooses which of them it names. */
struct body_digest;
must_check struct body_digest *body_digest_new(void);
void body_digest_free(struct body_digest *d);
DEFINE_AUTO_PTR(body_digest)

/* Begins anew. */
void body_digest_reset(struct body_digest *d);
void body_digest_add(struct body_digest *d, const void *bytes, size_t n);
/* The digest so far, by the algorithm of `like` ("sha512:…"), SHA-256 for any other. */
void body_digest_text(
	const struct body_digest *d, struct text like, char out[IMAGE_DIGEST_MAX + 1]);
