/* The digest of a tag (image-trust.md §6.1). */
#include <string.h>

#include "base/json.h"
#include "image/registry/manifest.h"
#include "image/registry/registry.h"
#include "image/registry/session.h"

/* Tag or digest; an image that carries a digest is asked for by that. */
static const char *wanted_of(const struct image_reference *r)
{
	return r->digest[0] ? r->digest : image_reference_tag(r);
}

static bool same_algorithm(const char *a, const char *b)
{
	return strncmp(a, b, sizeof("sha256:") - 1) == 0;
}

static int mismatch(const char *got, const char *want, struct error *err)
{
	return error_set(err, ERROR_DIGEST_MISMATCH,
		"the registry names the digest %s for a manifest that is %s", quoted_string(got),
		want);
}

/* The one digest that a header of the answer names, or NULL. */
static const char *digest_of(const struct http_answer *a)
{
	if (a->digests.n != 1 || !image_digest_valid(text_of(a->digests.v[0])))
		return NULL;
	return a->digests.v[0];
}

/* 0: resolved; 1: the body is needed; -1 */
static int take_head(const struct session *s, const struct http_answer *a,
	struct registry_answer *ret, struct error *err)
{
	const char *asked = s->question->ref->digest, *digest = digest_of(a);
	int type = manifest_type_of(a->content_type);

	if (a->status == 400 || a->status == 405 || a->status == 406 || a->status == 501)
		return 1;
	if (a->status != 200)
		return session_refuse(s, a, err);
	if (type < 0 || !digest || a->encoded || (asked[0] && !same_algorithm(asked, digest)))
		return 1;
	if (asked[0] && strcmp(asked, digest) != 0)
		return mismatch(digest, asked, err);
	memcpy(ret->digest, digest, strlen(digest) + 1);
	ret->media_type = manifest_type_text((enum manifest_type)type);
	return 0;
}

/* Every digest that is named, the one asked for included, is that of the body. */
static int check_digests(const struct http_answer *a, const char *asked,
	const struct body_digest *counted, struct error *err)
{
	char own[IMAGE_DIGEST_MAX + 1];

	strv_foreach (named, &a->digests) {
		body_digest_text(counted, text_of(*named), own);
		if (strcmp(*named, own) != 0)
			return mismatch(*named, own, err);
	}
	body_digest_text(counted, text_of(asked), own);
	return asked[0] && strcmp(asked, own) != 0
		       ? error_set(err, ERROR_DIGEST_MISMATCH,
				 "the registry sent a manifest that is %s", own)
		       : 0;
}

static int take_body(const struct session *s, const struct http_answer *a,
	const struct body_digest *counted, struct registry_answer *ret, struct error *err)
{
	const char *asked = s->question->ref->digest;
	int type = manifest_type_of(a->content_type);

	if (a->status != 200)
		return session_refuse(s, a, err);
	if (session_check_encoding(a, err) < 0)
		return -1;
	if (type < 0)
		return error_set(err, ERROR_UNSUPPORTED_MANIFEST,
			"the registry sent %s, which is no manifest that cloop takes",
			a->content_type ? quoted_string(a->content_type) : "no type");
	auto_json *manifest = manifest_read(
		(struct text){str_text(&a->body), a->body.len}, (enum manifest_type)type, err);
	if (!manifest || check_digests(a, asked, counted, err) < 0)
		return -1;
	body_digest_text(counted, text_of(asked), ret->digest);
	ret->media_type = manifest_type_text((enum manifest_type)type);
	return 0;
}

static int resolve(struct session *s, struct registry_answer *ret, struct error *err)
{
	AUTO_PTR(body_digest) counted = body_digest_new();
	AUTO(http_answer) head = {.status = 0};
	AUTO(http_answer) got = {.status = 0};
	struct session_request r = {.method = HTTP_HEAD,
		.kind = "manifests",
		.name = wanted_of(s->question->ref),
		.accept = manifest_accept,
		.body_max = MANIFEST_MAX_BYTES,
		.digest = counted};

	if (session_ask(s, &r, &head, err) < 0)
		return -1;
	int taken = take_head(s, &head, ret, err);
	if (taken <= 0)
		return taken;
	r.method = HTTP_GET;
	if (session_ask(s, &r, &got, err) < 0)
		return -1;
	return take_body(s, &got, counted, ret, err);
}

int registry_resolve(
	const struct registry_question *q, struct registry_answer *ret, struct error *err)
{
	AUTO(session) s = {.http = NULL};
	struct registry_answer answer = {.media_type = NULL};
	char name[IMAGE_TEXT_MAX + 1];

	image_reference_render(q->ref, name);
	if (session_open(q, &s, err) < 0 || resolve(&s, &answer, err) < 0)
		return error_prefix(err, "image %s", name);
	*ret = answer;
	return 0;
}
