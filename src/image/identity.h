/*
 * From an allowed reference to the exact image of an engine's local store (image-trust.md §5.1):
 * the choice among the names and digests that `ENGINE image inspect` lists. Pure; whoever calls the
 * engine brings its answer.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "image/inspect.h"
#include "image/reference.h"

enum { IMAGE_CANDIDATES_MAX = 4 };

struct image_identity {
	/* As asked; an unqualified one with the name it was found to be, if that is only one. */
	struct image_reference ref;
	char run[IMAGE_TEXT_MAX + 1];      /* what argv carries: name@digest, or the image's ID */
	char image[IMAGE_TEXT_MAX + 1];    /* what records show */
	char digest[IMAGE_DIGEST_MAX + 1]; /* "" = none */
	char id[IMAGE_DIGEST_MAX + 1];     /* with its algorithm */
	bool reproducible;                 /* pinned by digest */
	/* The digests of that name if there is more than one, in the order of choice; else none. */
	char candidates[IMAGE_CANDIDATES_MAX][IMAGE_DIGEST_MAX + 1];
	size_t n_candidates;
	const char *warning; /* "ambiguous_name", or NULL */
};

/* The positive outcome of image_identity_choose(). */
enum { IMAGE_NO_DIGEST = 1 };

/*
 * Chooses from one object of `image inspect`. 0: pinned by digest. IMAGE_NO_DIGEST: the image is
 * present, but nothing gives it a digest; it runs by its ID. -1: ERROR_IMAGE_MISSING (the engine
 * answered for something else than what was asked; the remedy holds the pull command),
 * ERROR_ENGINE_FAILED (the answer is not as described). *ret is written unless -1.
 */
must_check int image_identity_choose(enum image_store store, const struct image_reference *asked,
	const json_t *inspect, struct image_identity *ret, struct error *err);
/*
 * Of several candidates this one runs: run, image and digest follow it, and there are no others any
 * more. The identity is pinned, the digest one of its own.
 */
void image_identity_settle(struct image_identity *i, const char *digest);
