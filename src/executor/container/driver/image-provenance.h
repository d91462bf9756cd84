/* cloop's own images: what follows from who signed them (image-trust.md §9). */
#pragma once

#include "executor/container/driver/run-image.h"
#include "trust/provenance.h"

/* Is it asked of this image? By its name, whoever chose it. */
bool image_provenance_wanted(const struct run_image_question *q, const struct image_reference *r);
/*
 * Puts what was found of a further digest to what was found before: of several signatures the one
 * that is there counts, then the one that is not known of.
 */
void image_provenance_merge(struct trust_provenance *all, const struct trust_provenance *more);
/*
 * Decides for an image whose digest was not verified (p), or that has none (NULL): 0 and the
 * warning of *i, or -1: sandbox_image_denied, signature-required, origin published.
 */
must_check int image_provenance_conclude(const struct run_image_question *q,
	const struct trust_provenance *p, struct run_image *i, struct error *err);
