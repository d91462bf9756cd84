/*
 * The judgement of an image reference (image-trust.md §3.4, §3.5): a pure function of policy,
 * origin and text. The same one serves `image check`, `sandbox check`, dispatch and the executors;
 * the executors decide, the earlier ones exist for the message.
 */
#pragma once

#include "image/policy.h"
#include "image/reference.h"

/* Who chose the image. The strictest comes first, so that a zeroed struct asks for too little. */
enum image_origin {
	IMAGE_ORIGIN_PROJECT,   /* a sandbox.yaml names it */
	IMAGE_ORIGIN_OPERATOR,  /* config.yaml, a device, a virtual executor */
	IMAGE_ORIGIN_PUBLISHED, /* one of cloop's own, by default or chosen by an operator */
	IMAGE_ORIGIN_COUNT
};
const char *image_origin_text(enum image_origin origin);
int image_origin_from_text(struct text t);

enum image_rule {
	IMAGE_RULE_NONE, /* allowed */
	IMAGE_RULE_POLICY_CONFIGURATION,
	IMAGE_RULE_REFERENCE_SYNTAX,
	IMAGE_RULE_UNQUALIFIED_REFERENCE,
	IMAGE_RULE_REGISTRY_ALLOWLIST,
	IMAGE_RULE_REPOSITORY_ALLOWLIST,
	IMAGE_RULE_DIGEST_REQUIRED,
	IMAGE_RULE_DIGEST_RESOLUTION, /* these two only after a verdict that allows */
	IMAGE_RULE_SIGNATURE_REQUIRED,
	IMAGE_RULE_COUNT
};
const char *image_rule_text(enum image_rule rule); /* "" for none */

struct image_verdict {
	bool allowed;
	enum image_rule rule;
	char reason[ERROR_TEXT_MAX + 1]; /* "" when allowed, as the next two */
	char remedy[ERROR_TEXT_MAX + 1];
	const char *detail;              /* code of §2.2, or "" */
	struct image_reference ref;      /* after default_registry; all "" when it is malformed */
	char run_as[IMAGE_TEXT_MAX + 1]; /* what an engine is asked for; "" when refused */
	bool needs_pin;                  /* allowed, and carries no digest */
	bool needs_signature;            /* allowed, once its digest is verified */
	bool policy_active;              /* rules hold for this image */
};

/* Do the rules hold for images of this origin? Pins and grammar hold for all. */
bool image_verdict_governs(const struct image_policy *p, enum image_origin origin);
/* p is validated. */
void image_verdict(const struct image_policy *p, enum image_origin origin, struct text image,
	struct image_verdict *ret);
/* The verdict on every image, of any origin, while the operator's configuration cannot be used. */
void image_verdict_broken(struct text image, const struct error *why, struct image_verdict *ret);

/* As `cloop image check --json` shows it. */
must_check json_t *image_verdict_to_json(const struct image_verdict *v, struct text image);
/*
 * The error of a refusal (§12): sandbox_image_denied, for a malformed reference
 * sandbox_invalid_spec; details rule, image, registry, repository, origin, detail. Always -1.
 */
int image_verdict_error(const struct image_verdict *v, enum image_origin origin, struct text image,
	struct error *err);

/* Those details alone, added to an error of another text. Always -1. */
int image_verdict_details(const struct image_verdict *v, enum image_origin origin,
	struct text image, struct error *err);

/*
 * The verdict as a step of a dispatch: 0 and *ret, or -1 with image_verdict_error(). What is still
 * to be shown of an image that is allowed (a digest, a signature) is the executor's to see to.
 */
must_check int image_verdict_pass(const struct image_policy *p, enum image_origin origin,
	struct text image, struct image_verdict *ret, struct error *err);
/*
 * Makes a refusal of a verdict that allowed, by a rule that follows it (§3.4); detail is borrowed,
 * "" = none. image_verdict_error() tells it.
 */
void image_verdict_refuse(struct image_verdict *v, enum image_rule rule, const char *detail,
	const char *reason, const char *fix);
