/*
 * What `cloop doctor` says of the operator's image policy by reading it (image-trust.md §13).
 * Findings are appended; every check gives at least one. Pure.
 */
#pragma once

#include "config/config.h"
#include "executor/container/preflight.h"

/* images.policy: warnings are those of validation, of the whole file. */
void doctor_images_policy(
	const struct config *c, const struct problems *warnings, struct preflight_report *r);
/* images.policy of a file that has errors; the list must not be empty. */
void doctor_images_broken(const struct problems *errors, struct preflight_report *r);
/* images.digest_pinning */
void doctor_images_pinning(const struct image_policy *p, struct preflight_report *r);
/* images.configured */
void doctor_images_configured(const struct config *c, struct preflight_report *r);

/*
 * The registries that entries of allowed_registries and allowed_repos name in full, each once, in
 * the order of the lists.
 */
enum { DOCTOR_HOSTS_MAX = POLICY_REGISTRIES_MAX + POLICY_REPOS_MAX };
void doctor_images_hosts(const struct image_policy *p, struct strv *ret);
/*
 * An image of no registry that exists which the policy allows: it admits any. Caller frees; NULL =
 * there is none.
 */
must_check char *doctor_images_stranger(const struct image_policy *p);
