/* Manifests and indexes of images, as a registry gives them (image-trust.md §6.1, §6.4). Pure. */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "image/reference.h"

enum { MANIFEST_MAX_BYTES = 4 << 20 };

enum manifest_type {
	MANIFEST_OCI_INDEX,
	MANIFEST_DOCKER_LIST,
	MANIFEST_OCI,
	MANIFEST_DOCKER,
	MANIFEST_TYPE_COUNT
};
const char *manifest_type_text(enum manifest_type t); /* the media type */
int manifest_type_from_text(struct text t);
/* The value of a Content-Type, parameters and case aside: -1 = none of the four, or NULL. */
int manifest_type_of(const char *content_type);
bool manifest_is_index(enum manifest_type t);
/* The four of them, as Accept has it. */
extern const char manifest_accept[];

/*
 * A body of that type, at most MANIFEST_MAX_BYTES. NULL: unsupported_manifest; no JSON object,
 * another mediaType, schema 1. Caller frees.
 */
must_check json_t *manifest_read(struct text body, enum manifest_type type, struct error *err);

/*
 * Of an index: the digest of the image for linux and this architecture (as images name it,
 * "amd64"), else of the first for linux; of an image: the digest of its configuration. NULL: there
 * is none that is valid. Borrowed.
 */
const char *manifest_platform(const json_t *index, const char *architecture);
const char *manifest_config(const json_t *image);
/* The running machine's architecture. */
const char *manifest_architecture(void);

/* An index (or the answer of the referrers API) lists a signature of cosign's or sigstore's. */
bool manifest_lists_signature(const json_t *index);
