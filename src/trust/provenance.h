/* One of cloop's own images: who signed this digest (image-trust.md §9)? */
#pragma once

#include <stdint.h>

#include "image/provenance.h"

struct trust_provenance_question {
	const struct provenance_rules *rules;
	const struct image_policy *policy;   /* the operator's: how registries are spoken to */
	const struct image_reference *image; /* one of published.repositories, with its digest */
	const char *home;                    /* cloop's, resolved */
	int64_t deadline_ms;                 /* trust_deadline() */
	int cancel_fd;
};

struct trust_provenance {
	enum provenance_cosign cosign;
	enum provenance_signature signature; /* asked of the registry when cosign failed */
	char reason[ERROR_TEXT_MAX + 1];     /* of what is not ok; "" = verified */
};

/*
 * What provenance_decide() has to know. Whatever keeps cosign from being asked is as if it had
 * timed out, so that the image is unchecked. -1: start_cancelled only.
 */
must_check int trust_provenance_ask(
	const struct trust_provenance_question *q, struct trust_provenance *ret, struct error *err);
