#include "lib/policy.h"

#include <string.h>

#include "base/json.h"
#include "image/policy-keys.h"
#include "lib/strings.h"
#include "yaml/reader.h"

static void put_list(json_t *section, const char *key, const char *const *list)
{
	if (!list)
		return;
	json_t *array = json_array();
	for (; *list; list++)
		json_array_append_new(array, json_from_bytes(text_of(*list)));
	json_object_set_new(section, key, array);
}

static void put_identities(json_t *section, const struct cloop_image_policy *in)
{
	if (in->n_cosign_identities == 0)
		return;
	json_t *array = json_array();
	for (size_t i = 0; i < in->n_cosign_identities; i++)
		json_array_append_new(
			array, json_pack("{s:o, s:o}", "issuer",
				       json_from_string(lib_text(in->cosign_identities[i].issuer)),
				       "subject_regexp",
				       json_from_string(
					       lib_text(in->cosign_identities[i].subject_regexp))));
	json_object_set_new(section, "cosign_identities", array);
}

/* The section as it would be written in a file: JSON is YAML, too. */
static json_t *section_of(const struct cloop_image_policy *in)
{
	json_t *section = json_pack("{s:b, s:b, s:b, s:b}", "require_digest", in->require_digest,
		"require_signature", in->require_signature, "cosign_ignore_tlog",
		in->cosign_ignore_tlog, "govern_operator_images", in->govern_operator_images);

	put_list(section, "allowed_registries", in->allowed_registries);
	put_list(section, "allowed_repos", in->allowed_repos);
	put_list(section, "cosign_public_keys", in->cosign_public_keys);
	put_list(section, "insecure_registries", in->insecure_registries);
	put_identities(section, in);
	if (lib_given(in->default_registry))
		json_object_set_new(section, "default_registry",
			json_from_bytes(text_of(in->default_registry)));
	return section;
}

static int refuse(struct problems *errors, struct error *err)
{
	problems_finish(errors);
	error_set(err, ERROR_SANDBOX_IMAGE_DENIED, "image policy: %s: %s", errors->v[0].path,
		errors->v[0].message);
	return error_set_remedy(err, "%s", errors->v[0].remedy);
}

int lib_policy_read(
	const struct cloop_image_policy *in, struct image_policy *ret, struct error *err)
{
	static const struct reader_rules rules = {.max_events = READER_CONFIG_EVENTS};
	AUTO(tree) tree = TREE_INIT;
	AUTO(problems) errors = PROBLEMS_INIT(PROBLEMS_ERRORS_MAX);
	AUTO(problems) warnings = PROBLEMS_INIT(PROBLEMS_WARNINGS_MAX);
	AUTO(image_policy) policy = {.default_registry = NULL};
	struct schema_bind b = {.errors = &errors, .warnings = &warnings, .tree = &tree};
	auto_json *section = section_of(in);
	auto_free char *written = json_write(section);

	if (reader_read(text_of(written), &rules, &errors, &tree) == 0)
		schema_bind_document(&b, &image_policy_schema, &policy);
	if (errors.n > 0)
		return refuse(&errors, err);
	*ret = policy;
	policy = (struct image_policy){.default_registry = NULL};
	return 0;
}
