/*
 * The judgement of an image reference (image-trust.md §3.4): a pure function of policy and text.
 * This version has no policy: one that restricts something is refused when the configuration is
 * read, so what is left is the inactive policy, which refuses malformed references and still pins.
 */
#pragma once

#include "image/reference.h"

struct image_verdict {
	bool allowed;
	const char *rule; /* why it is refused, "" when allowed */
	char reason[ERROR_TEXT_MAX + 1];
	char remedy[ERROR_TEXT_MAX + 1];
	const char *detail;              /* code of §2.2, or "" */
	struct image_reference ref;      /* all parts "" when the reference is malformed */
	char run_as[IMAGE_TEXT_MAX + 1]; /* what an engine is asked for; "" when refused */
	bool needs_pin;                  /* allowed, and carries no digest */
	bool needs_signature;
	bool policy_active;
};

/* The verdict under an inactive policy. */
void image_verdict_inactive(struct text image, struct image_verdict *ret);
/* The verdict on every image while the operator's configuration cannot be used. */
void image_verdict_broken(struct text image, const struct error *why, struct image_verdict *ret);
