/*
 * The keys of sandbox.image_policy (image-trust.md §3.1, §3.2): the table that binds the section to
 * a struct image_policy, with every error and warning in file order. Pure: key files are not
 * opened.
 */
#pragma once

#include "schema/schema.h"

/* For tables of other areas: a schema_check of an issuer and of a subject_regexp (§3.2, §3.3). */
bool policy_keys_issuer(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value);
bool policy_keys_subject(struct schema_bind *b, const struct schema_key *key, const struct node *n,
	struct text value);
/* Adds the problem of a text that was judged (policy-entry.h); true = there is none. */
bool policy_keys_tell(
	struct schema_bind *b, const struct node *n, struct text value, enum problem_code code);

/* Bound to a struct image_policy, zeroed or with defaults; that is to be thrown away on errors. */
extern const struct schema image_policy_schema;
