/*
 * Image references (image-trust.md §2): one parser for sandbox.yaml, config.yaml, the command
 * line, the engine's output and registry answers. What it accepts is safe as one argv element and
 * is read by every engine as the same registry and repository.
 *
 * Only rendered forms leave here: what is judged, compared, put into an argv, a URL or a Pod is
 * the normal form, never the text as written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

enum {
	IMAGE_TEXT_MAX = 512,
	IMAGE_NAME_MAX = 255, /* registry, '/' and repository */
	IMAGE_TAG_MAX = 128,
	IMAGE_DIGEST_MAX = 135, /* "sha512:" and 128 digits */
};

/* The normal form; absent parts are "". */
struct image_reference {
	char registry[IMAGE_NAME_MAX + 1]; /* lower case, with its port; the Hub is docker.io */
	char repository[IMAGE_NAME_MAX + 1];
	char tag[IMAGE_TAG_MAX + 1];
	char digest[IMAGE_DIGEST_MAX + 1];
	bool qualified; /* the text itself named a registry */
};

/*
 * Parses text of any length and bytes, without trimming. -1: the first failure of §2.2, as one of
 * ERROR_IMAGE_REF_*; the message holds the words `malformed image reference`, the quoted text, the
 * fact, and the byte offset where there is one. *ret is written only on success.
 */
must_check int image_reference_parse(struct text t, struct image_reference *ret, struct error *err);

/*
 * Gives a reference that names no registry this one (in normal form); on Docker Hub a repository of
 * one component gets library/. The text still did not name it: `qualified` stays false. -1: the
 * limits of §2, name_too_long and too_long, judged as by the parser; *r is untouched then.
 * `written` is for the message.
 */
must_check int image_reference_qualify(
	struct image_reference *r, const char *registry, struct text written, struct error *err);

/* `registry/repository`, or `repository`. */
void image_reference_name(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1]);
/* name[:tag][@digest]; parses to the same parts. */
void image_reference_render(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1]);
/* name@digest; "" without a digest. */
void image_reference_canonical(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1]);
/*
 * What an engine is asked for (§3.4): the canonical form, else name:tag with `latest` made
 * explicit.
 */
void image_reference_run_as(const struct image_reference *r, char out[IMAGE_TEXT_MAX + 1]);

/* The tag that is meant: `latest` where none is written. */
const char *image_reference_tag(const struct image_reference *r);
bool image_reference_same_name(const struct image_reference *a, const struct image_reference *b);

/* sha256: and 64, or sha512: and 128 lower-case hexadecimal digits. */
bool image_digest_valid(struct text t);
