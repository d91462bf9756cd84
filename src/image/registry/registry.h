/*
 * What a registry says of an image (image-trust.md §6, §9): the digest of a tag, whether a digest
 * is signed, what an image is labelled with. Each of these is one resolution with bounds of its
 * own: 5 s to connect, 15 s in all, at most 8 requests; nothing is kept between them.
 *
 * Only for images that the policy allows: nothing here judges. Errors, all naming the image:
 * registry_unauthorized, tag_not_found, registry_rate_limited, registry_redirect_refused,
 * registry_address_blocked, unsupported_manifest, digest_mismatch, registry_bad_answer,
 * registry_server_error, registry_unreachable, registry_timeout, registry_tls, registry_unnamed
 * (the reference names no registry), start_cancelled.
 */
#pragma once

#include "image/logins.h"
#include "image/policy.h"
#include "image/provenance.h"
#include "image/verdict.h"

struct registry_question {
	const struct image_policy *policy; /* validated */
	enum image_origin origin;
	const struct image_reference *ref; /* of the verdict, after default_registry */
	/* Of logins_find(), also when that found none (then only the helper is for messages); NULL:
	 * anonymous. */
	const struct login_found *login;
	int cancel_fd; /* readable = give up; -1 = none */
};

struct registry_answer {
	char digest[IMAGE_DIGEST_MAX + 1]; /* of the index where there is one */
	const char *media_type;
};

/* The digest of the reference's tag, or that the registry has the digest it carries. */
must_check int registry_resolve(
	const struct registry_question *q, struct registry_answer *ret, struct error *err);

/* The positive outcome of registry_signature(). */
enum { REGISTRY_UNKNOWN = 1 };
/*
 * Is there any signature for this digest of the repository? 0: *ret is present or absent.
 * REGISTRY_UNKNOWN: *ret is unknown, and err says why. -1: start_cancelled only.
 */
must_check int registry_signature(const struct registry_question *q, const char *digest,
	enum provenance_signature *ret, struct error *err);

/*
 * The label HARNESS_LABEL of the image with this digest (of an index: of the image for linux and
 * this machine). 0: *ret_label, NULL if the image has none; caller frees. digest_mismatch means
 * that something else came than was asked for; any other error only that it could not be read.
 *
 * For executors that have no inspect answer to read the label from (§6.4, §10): the Kubernetes
 * executor calls it under require_signature. Those of this tree are container executors, which
 * read it in the engine's store (image-harness.h), so nothing calls it yet.
 */
must_check int registry_label(
	const struct registry_question *q, const char *digest, char **ret_label, struct error *err);

/*
 * GET /v2/ of the reference's registry, once: the status of whatever answers. Nothing is followed,
 * repeated or logged in to.
 */
must_check int registry_ping(
	const struct registry_question *q, long *ret_status, struct error *err);
