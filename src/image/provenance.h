/* cloop's own images: which they are, and whether one may run (image-trust.md §9). Pure. */
#pragma once

#include <stdbool.h>

#include "image/published.h"
#include "image/reference.h"
#include "image/verdict.h"

enum provenance_mode {
	PROVENANCE_OFF,
	PROVENANCE_WARN,
	PROVENANCE_REQUIRED,
	PROVENANCE_MODE_COUNT
};
const char *provenance_mode_text(enum provenance_mode m);
int provenance_mode_from_text(struct text t);

/* How the verification of the digest ended. */
enum provenance_cosign {
	PROVENANCE_COSIGN_OK,
	PROVENANCE_COSIGN_FAIL,
	PROVENANCE_COSIGN_MISSING,
	PROVENANCE_COSIGN_TIMEOUT,
	PROVENANCE_COSIGN_COUNT
};
const char *provenance_cosign_text(enum provenance_cosign c);
int provenance_cosign_from_text(struct text t);

/* What the registry says of signatures. */
enum provenance_signature {
	PROVENANCE_SIGNATURE_PRESENT,
	PROVENANCE_SIGNATURE_ABSENT,
	PROVENANCE_SIGNATURE_UNKNOWN,
	PROVENANCE_SIGNATURE_COUNT
};
const char *provenance_signature_text(enum provenance_signature s);
int provenance_signature_from_text(struct text t);

enum provenance_state {
	PROVENANCE_SKIPPED,
	PROVENANCE_VERIFIED,
	PROVENANCE_WRONG,     /* somebody else's signature */
	PROVENANCE_UNSIGNED,  /* warning image_unsigned, refusal provenance_unsigned */
	PROVENANCE_UNCHECKED, /* image_unchecked, provenance_unchecked */
	PROVENANCE_STATE_COUNT
};
const char *provenance_state_text(enum provenance_state s);

enum provenance_action {
	PROVENANCE_RUN,
	PROVENANCE_RUN_WITH_WARNING,
	PROVENANCE_REFUSE,
	PROVENANCE_ACTION_COUNT
};
const char *provenance_action_text(enum provenance_action a); /* run, warn, refuse */

struct provenance_question {
	enum provenance_mode mode;
	bool pinned; /* the image has a digest; without one nothing was asked */
	enum provenance_cosign cosign;
	enum provenance_signature signature;
};
struct provenance_answer {
	enum provenance_action action;
	enum provenance_state state;
};
struct provenance_answer provenance_decide(const struct provenance_question *q);

/* What the operator sets (executors.image_provenance, executors.published_images). */
struct provenance_rules {
	enum provenance_mode mode;
	struct published_images published;
};
/* The origin of an image that the operator chose: published, if it is one of cloop's own. */
enum image_origin provenance_origin(const struct published_images *p, struct text image);
