/* Whether a digest has a signature (image-trust.md §9). */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "image/registry/manifest.h"
#include "image/registry/registry.h"
#include "image/registry/session.h"

enum { TAG_HEX_MAX = 64 };

/* What one question came to. */
enum finding { FOUND, NONE, NO_SUCH_API, FAILED };

/* sha256-HEX and what comes behind it; a longer digest is cut as the OCI's fallback says. */
static char *tag_of(const char *digest, const char *suffix)
{
	const char *hex = strchr(digest, ':') + 1;

	return mem_printf("%.*s-%.*s%s", (int)(hex - 1 - digest), digest, TAG_HEX_MAX, hex, suffix);
}

/* An index that lists one. */
static enum finding judge_index(const struct http_answer *a, struct error *err)
{
	auto_json *index = json_read((struct text){str_text(&a->body), a->body.len},
		MANIFEST_MAX_BYTES, "the list of signatures", ERROR_REGISTRY_BAD_ANSWER, err);

	if (!index || session_check_encoding(a, err) < 0)
		return FAILED;
	if (!json_is_array(json_object_get(index, "manifests"))) {
		error_set(err, ERROR_REGISTRY_BAD_ANSWER, "the list of signatures is none");
		return FAILED;
	}
	if (manifest_lists_signature(index))
		return FOUND;
	if (!a->paged)
		return NONE;
	error_set(err, ERROR_REGISTRY_BAD_ANSWER, "the list of signatures has further pages");
	return FAILED;
}

static enum finding ask_referrers(struct session *s, const char *digest, struct error *err)
{
	AUTO(http_answer) a = {.status = 0};
	struct session_request r = {.method = HTTP_GET,
		.kind = "referrers",
		.name = digest,
		.accept = manifest_type_text(MANIFEST_OCI_INDEX),
		.body_max = MANIFEST_MAX_BYTES};

	if (session_ask(s, &r, &a, err) < 0)
		return FAILED;
	if (a.status == 200)
		return judge_index(&a, err);
	if (a.status == 404)
		return NO_SUCH_API;
	session_refuse(s, &a, err);
	return FAILED;
}

static enum finding ask_index_tag(struct session *s, const char *digest, struct error *err)
{
	AUTO(http_answer) a = {.status = 0};
	auto_free char *tag = tag_of(digest, "");
	struct session_request r = {.method = HTTP_GET,
		.kind = "manifests",
		.name = tag,
		.accept = manifest_accept,
		.body_max = MANIFEST_MAX_BYTES};

	if (session_ask(s, &r, &a, err) < 0)
		return FAILED;
	int type = manifest_type_of(a.content_type);
	if (a.status == 404 || (a.status == 200 && type >= 0 && !manifest_is_index(type)))
		return NONE;
	if (a.status == 200)
		return judge_index(&a, err);
	session_refuse(s, &a, err);
	return FAILED;
}

static enum finding ask_signature_tag(struct session *s, const char *digest, struct error *err)
{
	auto_free char *tag = tag_of(digest, ".sig");
	struct session_request r = {.method = HTTP_HEAD,
		.kind = "manifests",
		.name = tag,
		.accept = manifest_accept,
		.body_max = MANIFEST_MAX_BYTES};

	for (;;) {
		AUTO(http_answer) a = {.status = 0};
		if (session_ask(s, &r, &a, err) < 0)
			return FAILED;
		if (a.status == 200)
			return FOUND;
		if (a.status == 404)
			return NONE;
		if (r.method == HTTP_GET) {
			session_refuse(s, &a, err);
			return FAILED;
		}
		r.method = HTTP_GET;
	}
}

/* One that says yes is enough; no needs all of them. */
static int ask_all(
	struct session *s, const char *digest, enum provenance_signature *ret, struct error *err)
{
	auto_error struct error later = ERROR_INIT;
	enum finding listed = ask_referrers(s, digest, err);

	if (listed == NO_SUCH_API)
		listed = ask_index_tag(s, digest, err);
	if (listed == FAILED && error_is(err, ERROR_START_CANCELLED))
		return -1;
	enum finding tagged = listed == FOUND ? FOUND : ask_signature_tag(s, digest, &later);
	*ret = tagged == FOUND                    ? PROVENANCE_SIGNATURE_PRESENT
	       : listed == NONE && tagged == NONE ? PROVENANCE_SIGNATURE_ABSENT
						  : PROVENANCE_SIGNATURE_UNKNOWN;
	if (*ret != PROVENANCE_SIGNATURE_UNKNOWN) {
		error_clear(err);
		return 0;
	}
	if (listed != FAILED || error_is(&later, ERROR_START_CANCELLED))
		error_move(err, &later);
	return error_is(err, ERROR_START_CANCELLED) ? -1 : REGISTRY_UNKNOWN;
}

int registry_signature(const struct registry_question *q, const char *digest,
	enum provenance_signature *ret, struct error *err)
{
	AUTO(session) s = {.http = NULL};
	char name[IMAGE_TEXT_MAX + 1];
	int asked = session_open(q, &s, err) < 0 ? REGISTRY_UNKNOWN : ask_all(&s, digest, ret, err);

	if (!s.http)
		*ret = PROVENANCE_SIGNATURE_UNKNOWN;
	if (asked != 0) {
		image_reference_name(q->ref, name);
		error_prefix(err, "signatures of %s@%s", name, digest);
	}
	return asked;
}
