/*
 * A session of the ledger, held beyond the call that shows it, and what every row of the audit
 * trail says of one (network.md §12.4).
 */
#pragma once

#include <jansson.h>

#include "base/cleanup.h"
#include "store/egress-session.h"
#include "vault/two-clocks.h"

struct egress_row {
	char *id, *grant, *run, *project, *executor, *subject, *boot_id;
	struct two_clocks opened; /* borrows boot_id */
	int64_t deadline, window; /* as in the store; seconds of a session's window */
	int64_t bytes_up, bytes_down, events_read;
	bool open;
};
void egress_row_done(struct egress_row *r);

/* The `row` of store_egress_session_…(); data: struct egress_row, empty before. */
void egress_row_read(void *data, const struct store_egress_session *e);

struct error;
/*
 * Appends a row to the trail, in the transaction of the caller: decision `allow`, the actor and
 * whose session it is, and over these the members of `more`, which is taken.
 */
must_check int egress_row_audit(struct store *s, const struct egress_row *r, const char *action,
	const char *actor, json_t *more, struct error *err);
