/*
 * sandbox.image_policy of config.yaml, validated (image-trust.md §3): whose code may run. Read anew
 * for every dispatch and every check. The table of its keys: policy-keys.h; the judgement of an
 * image: verdict.h.
 */
#pragma once

#include <stdbool.h>

#include "image/reference.h"
#include "schema/schema.h"

enum {
	POLICY_REGISTRIES_MAX = 256,
	POLICY_REPOS_MAX = 1024,
	POLICY_KEYS_MAX = 16,
	POLICY_IDENTITIES_MAX = 16,
	POLICY_INSECURE_MAX = 16,
	POLICY_KEY_PATH_MAX = 4095,
	POLICY_ISSUER_MAX = 512,
};

struct policy_identity {
	char *issuer;
	char *subject_regexp;
};

/*
 * Once validated, registries and repositories stand in normal form (policy-entry.h), in the order
 * of the file. A zeroed one is the policy that restricts nothing.
 */
struct image_policy {
	struct schema_list allowed_registries, allowed_repos;
	bool require_digest;
	bool require_signature;
	struct schema_list cosign_public_keys;   /* absolute paths; never opened here */
	struct schema_entries cosign_identities; /* of struct policy_identity */
	bool cosign_ignore_tlog;
	char *default_registry; /* NULL or "" = none */
	bool govern_operator_images;
	struct schema_list insecure_registries;
	/* The two lists by bytes, for looking up; borrowed from them. */
	const char **registry_index, **repo_index;
};
void image_policy_done(struct image_policy *p);

/* The i-th identity. */
const struct policy_identity *image_policy_identity(const struct image_policy *p, size_t i);

/* Something is restricted: a list is not empty, or a require_ flag is set. */
bool image_policy_active(const struct image_policy *p);
/* An entry of allowed_registries matches; also when there is none. In normal form, or "". */
bool image_policy_admits_registry(const struct image_policy *p, const char *registry);
/* An entry of allowed_registries other than `*` matches; false when there is none. */
bool image_policy_names_registry(const struct image_policy *p, const char *registry);
/* An entry of allowed_repos matches; also when there is none. */
bool image_policy_admits_repository(const struct image_policy *p, const struct image_reference *r);

/* Makes the indices; for policy-keys.c, once the lists are what they will be. */
void image_policy_index(struct image_policy *p);
