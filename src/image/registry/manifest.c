#include "image/registry/manifest.h"

#include <sys/utsname.h>

#include "base/enum-text.h"
#include "base/json.h"

#define OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define DOCKER_LIST "application/vnd.docker.distribution.manifest.list.v2+json"
#define OCI_IMAGE "application/vnd.oci.image.manifest.v1+json"
#define DOCKER_IMAGE "application/vnd.docker.distribution.manifest.v2+json"

static const char *const names[] = {
	[MANIFEST_OCI_INDEX] = OCI_INDEX,
	[MANIFEST_DOCKER_LIST] = DOCKER_LIST,
	[MANIFEST_OCI] = OCI_IMAGE,
	[MANIFEST_DOCKER] = DOCKER_IMAGE,
};
ENUM_TEXT(manifest_type, names, MANIFEST_TYPE_COUNT)

const char manifest_accept[] = OCI_INDEX ", " DOCKER_LIST ", " OCI_IMAGE ", " DOCKER_IMAGE;

int manifest_type_of(const char *content_type)
{
	struct text rest = text_of(content_type), type;

	if (!content_type)
		return -1;
	text_split(&rest, ';', &type);
	type = text_trim(type);
	for (int i = 0; i < MANIFEST_TYPE_COUNT; i++)
		if (text_is_nocase(type, names[i]))
			return i;
	return -1;
}

bool manifest_is_index(enum manifest_type t)
{
	return t == MANIFEST_OCI_INDEX || t == MANIFEST_DOCKER_LIST;
}

static int unsupported(const char *fact, struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED_MANIFEST, "the manifest %s", fact);
}

static int judge(const json_t *object, enum manifest_type type, struct error *err)
{
	const json_t *media = json_object_get(object, "mediaType");
	const json_t *schema = json_object_get(object, "schemaVersion");

	if (!json_is_object(object))
		return unsupported("is no JSON object", err);
	if (schema && json_integer_value(schema) != 2)
		return unsupported("is not of schema 2", err);
	if (!media)
		return 0;
	if (!json_is_string(media) || !text_is(json_text(media), names[type]))
		return error_set(err, ERROR_UNSUPPORTED_MANIFEST,
			"the manifest was sent as %s and calls itself %s", names[type],
			json_is_string(media) ? quoted(json_text(media)) : "nothing readable");
	return 0;
}

json_t *manifest_read(struct text body, enum manifest_type type, struct error *err)
{
	auto_json *object = json_read(
		body, MANIFEST_MAX_BYTES, "the manifest", ERROR_UNSUPPORTED_MANIFEST, err);

	return object && judge(object, type, err) == 0 ? json_incref(object) : NULL;
}

/* ---- What it points to ---- */

static const char *digest_of(const json_t *descriptor)
{
	const json_t *digest = json_object_get(descriptor, "digest");

	return json_is_string(digest) && image_digest_valid(json_text(digest))
		       ? json_string_value(digest)
		       : NULL;
}

const char *manifest_platform(const json_t *index, const char *architecture)
{
	const json_t *list = json_object_get(index, "manifests");
	const char *first = NULL;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *entry = json_array_get(list, i);
		const json_t *platform = json_object_get(entry, "platform");
		const char *digest = digest_of(entry);
		if (!digest || !text_is(json_get_text(platform, "os"), "linux"))
			continue;
		if (text_is(json_get_text(platform, "architecture"), architecture))
			return digest;
		if (!first)
			first = digest;
	}
	return first;
}

const char *manifest_config(const json_t *image)
{
	return digest_of(json_object_get(image, "config"));
}

const char *manifest_architecture(void)
{
	static const char *const machines[][2] = {{"x86_64", "amd64"}, {"aarch64", "arm64"},
		{"i686", "386"}, {"i586", "386"}, {"armv7l", "arm"}, {"armv6l", "arm"},
		{"ppc64le", "ppc64le"}, {"riscv64", "riscv64"}, {"s390x", "s390x"},
		{"loongarch64", "loong64"}, {"mips64", "mips64le"}};
	struct utsname u;

	for (size_t i = 0; uname(&u) == 0 && i < ARRAY_SIZE(machines); i++)
		if (strcmp(u.machine, machines[i][0]) == 0)
			return machines[i][1];
	return "amd64";
}

bool manifest_lists_signature(const json_t *index)
{
	static const char *const prefixes[] = {
		"application/vnd.dev.sigstore.", "application/vnd.dev.cosign."};
	const json_t *list = json_object_get(index, "manifests");

	for (size_t i = 0; i < json_array_size(list); i++) {
		struct text type = json_get_text(json_array_get(list, i), "artifactType");
		for (size_t j = 0; j < ARRAY_SIZE(prefixes); j++)
			if (type.p && text_starts(type, prefixes[j]))
				return true;
	}
	return false;
}
