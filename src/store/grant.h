/*
 * Table secret_grant: which secret may be delivered to whom, and with which constraints
 * (disk-and-secrets.md §12, §14, §15). What the words mean is the vault's business. A row stays
 * when its grant ended or its secret is gone, so that a revocation can be finished and told.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

/* One row; texts live as long as the call that shows it. */
struct store_grant {
	struct text id;           /* grant_… */
	struct text secret, name; /* its id, and its name when it was granted */
	struct text kind;         /* secret_kind_text() */
	struct text subject;      /* in its clean form */
	struct text constraints;  /* a JSON object */
	struct text scope;        /* a label for people; may be empty */
	struct text created_by;
	int64_t created_at, expires_at; /* seconds since 1970 */
	int64_t revoked_at;             /* 0 = it is not */
	struct text boot_id;            /* boot of created_at, and its boottime: what a clock */
	int64_t boottime_ms;            /* that is set back cannot change */
	struct text state;              /* of its revocation (store/revocation.h); empty = none */
};

must_check int store_grant_add(struct store *s, const struct store_grant *g, struct error *err);
/* Calls `row` for one: 0, or 1 = there is none of this id. */
must_check int store_grant_show(struct store *s, const char *id,
	void (*row)(void *data, const struct store_grant *g), void *data, struct error *err);
/* Calls `row` for each, oldest first. */
must_check int store_grant_list(struct store *s,
	void (*row)(void *data, const struct store_grant *g), void *data, struct error *err);
/*
 * The same without those that were revoked or expired before `since` (seconds since 1970), which
 * is all that a dispatch has to judge.
 */
must_check int store_grant_list_since(struct store *s, int64_t since,
	void (*row)(void *data, const struct store_grant *g), void *data, struct error *err);
/* Marks it as revoked; one that is already stays as it is. */
must_check int store_grant_revoke(struct store *s, const char *id, int64_t now, struct error *err);
