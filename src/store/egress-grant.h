/*
 * Table egress_grant: who may reach what through the proxy (network.md §11). What a policy means is
 * the business of egress/grant.h. A row stays when its grant ended, so that a revocation can be
 * finished and told.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

/* One row; texts live as long as the call that shows it. */
struct store_egress_grant {
	struct text id;      /* egress_… */
	struct text subject; /* in its clean form */
	struct text scope;   /* a label for people; may be empty */
	struct text policy; /* a JSON object: hosts, cidrs, ports, methods, quotas, session_ttl_s */
	struct text created_by;
	int64_t created_at, expires_at; /* seconds since 1970 */
	int64_t revoked_at;             /* 0 = it is not */
	struct text boot_id;            /* boot of created_at, and its boottime: what a clock */
	int64_t boottime_ms;            /* that is set back cannot change */
	struct text state;              /* of its revocation (store/revocation.h); empty = none */
};

must_check int store_egress_grant_add(
	struct store *s, const struct store_egress_grant *g, struct error *err);
/* Calls `row` for one: 0, or 1 = there is none of this id. */
must_check int store_egress_grant_show(struct store *s, const char *id,
	void (*row)(void *data, const struct store_egress_grant *g), void *data, struct error *err);
/*
 * Calls `row` for each, newest first; without those that were revoked or expired before `since`
 * (seconds since 1970; 0 = all).
 */
must_check int store_egress_grant_list(struct store *s, int64_t since,
	void (*row)(void *data, const struct store_egress_grant *g), void *data, struct error *err);
/* Marks it as revoked; one that is already stays as it is. */
must_check int store_egress_grant_revoke(
	struct store *s, const char *id, int64_t now, struct error *err);
