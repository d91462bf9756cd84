/* What follows from pinning an allowed image (image-trust.md §5.3). Pure. */
#pragma once

#include <stdbool.h>

#include "image/verdict.h"

enum pin_result {
	PIN_PINNED,     /* a digest was found */
	PIN_NO_DIGEST,  /* it is in the store and nothing gives it one (§5.1 step 5) */
	PIN_UNRESOLVED, /* the registry gave none */
	PIN_RESULT_COUNT
};
const char *pin_result_text(enum pin_result r);
int pin_result_from_text(struct text t);

enum pin_action {
	PIN_RUN_DIGEST,
	PIN_RUN_ID,
	PIN_RUN_TAG, /* the tag may move before the pull */
	PIN_REFUSE,
	PIN_ACTION_COUNT
};
const char *pin_action_text(enum pin_action a);
int pin_action_from_text(struct text t);

struct pin_outcome {
	enum pin_action action;
	enum image_rule rule; /* of PIN_REFUSE */
	bool verify;          /* the digest's signature, before it runs */
	bool warn;            /* image_not_pinned */
};
struct pin_outcome pin_outcome_of(
	const struct image_policy *p, enum image_origin origin, enum pin_result result);
