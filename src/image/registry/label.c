/* What an image is labelled with, read from the registry (image-trust.md §6.4). */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "image/harness.h"
#include "image/registry/manifest.h"
#include "image/registry/registry.h"
#include "image/registry/session.h"

/* A body that hashes to the digest it is asked by. */
static int fetch(struct session *s, const char *kind, const char *digest, struct http_answer *ret,
	struct error *err)
{
	AUTO_PTR(body_digest) counted = body_digest_new();
	char own[IMAGE_DIGEST_MAX + 1];
	bool manifest = strcmp(kind, "manifests") == 0;
	struct session_request r = {.method = HTTP_GET,
		.kind = kind,
		.name = digest,
		.accept = manifest ? manifest_accept : NULL,
		.body_max = MANIFEST_MAX_BYTES,
		.digest = counted};

	if (session_ask(s, &r, ret, err) < 0)
		return -1;
	if (ret->status != 200)
		return session_refuse(s, ret, err);
	if (session_check_encoding(ret, err) < 0)
		return -1;
	body_digest_text(counted, text_of(digest), own);
	return strcmp(own, digest) == 0
		       ? 0
		       : error_set(err, ERROR_DIGEST_MISMATCH,
				 "the registry sent %s when it was asked for %s", own, digest);
}

static struct text body_of(const struct http_answer *a)
{
	return (struct text){str_text(&a->body), a->body.len};
}

/* NULL: any error. */
static json_t *fetch_manifest(
	struct session *s, const char *digest, bool *ret_index, struct error *err)
{
	AUTO(http_answer) a = {.status = 0};

	if (fetch(s, "manifests", digest, &a, err) < 0)
		return NULL;
	int type = manifest_type_of(a.content_type);
	if (type < 0) {
		error_set(err, ERROR_UNSUPPORTED_MANIFEST, "the registry sent no manifest");
		return NULL;
	}
	*ret_index = manifest_is_index((enum manifest_type)type);
	return manifest_read(body_of(&a), (enum manifest_type)type, err);
}

/* The image itself: the one for this machine, if the digest is that of an index. */
static json_t *fetch_image(struct session *s, const char *digest, struct error *err)
{
	bool index = false;
	auto_json *manifest = fetch_manifest(s, digest, &index, err);

	if (!manifest || !index)
		return json_incref(manifest);
	const char *platform = manifest_platform(manifest, manifest_architecture());
	if (!platform) {
		error_set(err, ERROR_UNSUPPORTED_MANIFEST, "the index lists no image for linux");
		return NULL;
	}
	return fetch_manifest(s, platform, &index, err);
}

/* A NUL, which no word of a label may hold, becomes another byte that none may hold. */
static char *label_of(const json_t *config)
{
	struct text label = json_get_text(
		json_object_get(json_object_get(config, "config"), "Labels"), HARNESS_LABEL);

	if (!label.p)
		return NULL;
	char *copy = mem_strndup(label.p, label.len);
	for (size_t i = 0; i < label.len; i++)
		if (copy[i] == '\0')
			copy[i] = '\x01';
	return copy;
}

static int read_label(struct session *s, const char *digest, char **ret, struct error *err)
{
	AUTO(http_answer) blob = {.status = 0};
	auto_json *image = fetch_image(s, digest, err);
	const char *config = manifest_config(image);

	if (!image)
		return -1;
	if (!config)
		return error_set(
			err, ERROR_UNSUPPORTED_MANIFEST, "the manifest names no configuration");
	if (fetch(s, "blobs", config, &blob, err) < 0)
		return -1;
	auto_json *content = json_read(body_of(&blob), MANIFEST_MAX_BYTES,
		"the image's configuration", ERROR_REGISTRY_BAD_ANSWER, err);
	if (!content)
		return -1;
	*ret = label_of(content);
	return 0;
}

int registry_label(
	const struct registry_question *q, const char *digest, char **ret_label, struct error *err)
{
	AUTO(session) s = {.http = NULL};
	char name[IMAGE_TEXT_MAX + 1];

	if (session_open(q, &s, err) == 0 && read_label(&s, digest, ret_label, err) == 0)
		return 0;
	image_reference_name(q->ref, name);
	return error_prefix(err, "label of %s@%s", name, digest);
}
