/*
 * What of a secret a grant gives (disk-and-secrets.md §15). Lists keep the order they were given
 * in, since the first registry and the first context mean something (§16.6, §16.7). Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/strv.h"
#include "vault/secret-kind.h"

enum { GRANT_LIST_MAX = 64 }; /* of the longest list */

struct grant_constraints {
	/* Empty: not given. */
	struct strv repos, namespaces, contexts, registries, env_keys, devices, interfaces;
	bool writable, block;
};
void grant_constraints_done(struct grant_constraints *c);

/*
 * Reads a JSON object of constraints for a secret of this kind (NULL: none given). -1:
 * grant_constraint_unknown, _kind, _missing, _invalid, the first in the order of §15, with the key
 * (`devices`, `devices[2]`) as the error's detail `key`; *ret is not written then.
 */
must_check int grant_constraints_read(
	enum secret_kind kind, json_t *object, struct grant_constraints *ret, struct error *err);
/* Reads back the same; keys that were not given are absent, false flags too. */
must_check json_t *grant_constraints_to_json(const struct grant_constraints *c);
/* The line for people, `none` when there is nothing; caller frees. */
must_check char *grant_constraints_summary(const struct grant_constraints *c);

/* `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`: names of devices and interfaces in payloads and grants. */
bool grant_constraints_item_name(struct text t);
