/*
 * Egress grants on record (network.md §11): made, shown, listed, read back, and which of them a run
 * holds.
 */
#pragma once

#include "egress/grant.h"
#include "store/egress-grant.h"
#include "vault/grant.h"
#include "vault/two-clocks.h"

struct egress_grants_request {
	json_t *fields; /* those of §11.1 that are not ours to set; borrowed */
	int64_t ttl;    /* seconds */
	const char *actor;
};
/*
 * Mints one, with its audit row egress.grant, and a row in the journal of the project that it is
 * for. *ret is egress_grants_describe() of it, with `notes`. -1: those of egress_grant_read(), of
 * the store.
 */
must_check int egress_grants_make(struct store *s, const struct egress_grants_request *request,
	const struct two_clocks *now, json_t **ret, struct error *err);

/* By both clocks. */
enum grant_state egress_grants_state(
	const struct store_egress_grant *g, const struct two_clocks *now);
/* When it ends by the wall clock of now. */
int64_t egress_grants_end(const struct store_egress_grant *g, const struct two_clocks *now);
/* The row as a grant; *ret is the caller's in any case (egress_grant_done). -1: it does not read */
must_check int egress_grants_read(
	const struct store_egress_grant *g, struct egress_grant *ret, struct error *err);
/* The same of one that nobody may hold any more, since a range of it has a metadata service. */
must_check int egress_grants_recall(
	const struct store_egress_grant *g, struct egress_grant *ret, struct error *err);

/*
 * {"id","subject","scope","hosts","cidrs","ports","methods","max_bytes_up","max_bytes_down",
 * "session_ttl_s","policy","created_at","created_by","expires_at","expires","revoked_at","status",
 * "revocation"}: `policy` is the line for people, `expires` too, `status` is active, revoked or
 * expired, `revocation` the state of one (disk-and-secrets.md §18) or null.
 */
must_check json_t *egress_grants_describe(
	const struct store_egress_grant *g, const struct two_clocks *now);

struct egress_grants_filter {
	struct text subject; /* p = NULL: every one; else in its clean form */
	bool all;            /* those that are over, too */
};
/* Appends descriptions, newest first. */
must_check int egress_grants_list(struct store *s, const struct egress_grants_filter *filter,
	const struct two_clocks *now, json_t *list, struct error *err);

/* What is to be said of a grant: ranges that are not public, and addresses that need one. */
must_check json_t *egress_grants_notes(const struct egress_grant *g);
