/* Types of manifests, and what an index points to (image-trust.md §6.1, §6.4). */
#include "unit/unit.h"

#include "base/json.h"
#include "image/registry/manifest.h"

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define ENTRY(digit, os, arch) \
	"{\"digest\":\"sha256:" H digit "\",\"platform\":{\"os\":\"" os \
	"\",\"architecture\":\"" arch "\"}}"

static void test_types(void **state)
{
	static const struct {
		const char *header;
		int type;
	} rows[] = {
		{"application/vnd.oci.image.index.v1+json", MANIFEST_OCI_INDEX},
		{"Application/Vnd.OCI.image.manifest.v1+JSON ; charset=utf-8", MANIFEST_OCI},
		{"application/vnd.docker.distribution.manifest.v2+json", MANIFEST_DOCKER},
		{"application/vnd.docker.distribution.manifest.list.v2+json", MANIFEST_DOCKER_LIST},
		{"application/vnd.docker.distribution.manifest.v1+json", -1},
		{"application/vnd.oci.image.index.v1+json, text/html", -1},
		{"", -1},
		{NULL, -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(manifest_type_of(rows[i].header), rows[i].type);
}

static json_t *json_of(const char *text)
{
	auto_error struct error err = ERROR_INIT;
	json_t *value = json_read(text_of(text), 1 << 16, "test", ERROR_USAGE, &err);

	if (!value)
		fail_msg("%s", err.message);
	return value;
}

static void test_platform(void **state)
{
	static const struct {
		const char *index;
		char last; /* digit of the digest; 0: none */
	} rows[] = {
		{"{\"manifests\":[" ENTRY("a", "linux", "arm64") "," ENTRY(
			 "b", "linux", "amd64") "," ENTRY("c", "linux", "amd64") "]}",
			'b'},
		{"{\"manifests\":[" ENTRY("a", "windows", "amd64") "," ENTRY(
			 "b", "linux", "s390x") "," ENTRY("c", "linux", "arm64") "]}",
			'b'},
		{"{\"manifests\":[" ENTRY("A", "linux", "amd64") "," ENTRY(
			 "b", "unknown", "unknown") "]}",
			0},
		{"{\"manifests\":[7,{},[],{\"platform\":7}]}", 0},
		{"{\"manifests\":{}}", 0},
		{"{}", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_json *index = json_of(rows[i].index);
		const char *digest = manifest_platform(index, "amd64");
		assert_int_equal(digest ? digest[strlen(digest) - 1] : 0, rows[i].last);
	}
}

static void test_signatures(void **state)
{
	static const struct {
		const char *index;
		bool listed;
	} rows[] = {
		{"{\"manifests\":[{\"artifactType\":\"application/vnd.dev.cosign.x\"}]}", true},
		{"{\"manifests\":[7,{\"artifactType\":\"application/vnd.dev.sigstore.b\"}]}", true},
		{"{\"manifests\":[{\"artifactType\":\"application/vnd.dev.cosignx\"}]}", false},
		{"{\"manifests\":[{\"artifactType\":7}]}", false},
		{"{\"artifactType\":\"application/vnd.dev.cosign.x\"}", false},
		{"[]", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_json *index = json_of(rows[i].index);
		assert_int_equal(manifest_lists_signature(index), rows[i].listed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_platform),
		cmocka_unit_test(test_signatures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
