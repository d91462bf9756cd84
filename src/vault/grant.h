/*
 * Grants of secrets (disk-and-secrets.md §12, §14, §15, §19): made, shown, and read back as data.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "store/grant.h"
#include "vault/two-clocks.h"
#include "vault/secret-kind.h"

enum { GRANT_SCOPE_MAX = 64 };

struct grant_request {
	const char *secret;  /* its name */
	struct text subject; /* as written */
	json_t *constraints; /* an object, or NULL; borrowed */
	const char *scope;   /* a label for people; NULL: none */
	int64_t ttl;         /* seconds */
	const char *actor;   /* who asks; owner of a personal secret, or refused */
};
/*
 * Mints one, with its audit row. *ret is grant_describe() of it. -1: secret_not_found,
 * secret_not_owner, grant_subject_invalid, grant_constraint_*, out_of_range, those of the store.
 */
must_check int grant_make(struct store *s, const struct grant_request *request,
	const struct two_clocks *now, json_t **ret, struct error *err);

enum grant_state { GRANT_ACTIVE, GRANT_EXPIRED, GRANT_REVOKED, GRANT_STATE_COUNT };
const char *grant_state_text(enum grant_state state); /* active, expired, revoked */
/* The two largest parts of what is left, for people: `23h59m`. */
must_check char *grant_left_text(int64_t seconds);
/* By both clocks. */
enum grant_state grant_state(const struct store_grant *g, const struct two_clocks *now);
/* When it ends by the wall clock of now. */
int64_t grant_end(const struct store_grant *g, const struct two_clocks *now);

/*
 * {"id","secret","secret_id","kind","subject","constraints","summary","scope","created_at",
 * "created_by","expires_at","expires","revoked_at","state","revocation"}: `expires` is for people
 * (`23h59m`, `expired`, `revoked`), `revocation` the state of one (§18) or null.
 */
must_check json_t *grant_describe(const struct store_grant *g, const struct two_clocks *now);

struct grant_filter {
	struct text subject; /* p = NULL: every one; else in its clean form */
	const char *secret;  /* NULL: every one; else the name */
	bool all;            /* those that are over, too */
};
/* Appends descriptions, oldest first. */
must_check int grant_list(struct store *s, const struct grant_filter *filter,
	const struct two_clocks *now, json_t *list, struct error *err);
