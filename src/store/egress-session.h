/*
 * Table egress_session: a run's live use of one egress grant (network.md §12.1). Of the token only
 * its SHA-256 is here. The policy is what the grant said when the session was opened.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strv.h"
#include "base/text.h"
#include "store/store.h"

enum { STORE_EGRESS_SESSIONS_KEPT = 1024 }; /* that are closed */

/* One row; texts live as long as the call that shows it. */
struct store_egress_session {
	struct text id;    /* sess_… */
	struct text grant; /* egress_… */
	struct text token_sha256;
	struct text run; /* its handle: a run has one session; `egress test` has its own word */
	struct text project, executor, subject;
	struct text policy;
	/*
	 * Seconds since 1970 on the wall clock as it went at opened_at (two_clocks_left_ms); the
	 * deadline only grows.
	 */
	int64_t opened_at, deadline;
	struct text boot_id; /* boot of opened_at, and its boottime */
	int64_t boottime_ms;
	int64_t bytes_up, bytes_down; /* as they were last told */
	int64_t events_read;          /* bytes of the run's events that are in the audit trail */
	bool open;
	struct text reason; /* why it was closed; empty while it is open */
};

must_check int store_egress_session_add(
	struct store *s, const struct store_egress_session *e, struct error *err);
/* Calls `row` for the session of this run: 0, or 1 = it has none. */
must_check int store_egress_session_show_run(struct store *s, const char *run,
	void (*row)(void *data, const struct store_egress_session *e), void *data,
	struct error *err);
/* Calls `row` for those whose run has no final record in the ledger, oldest first. */
must_check int store_egress_session_list_live(struct store *s,
	void (*row)(void *data, const struct store_egress_session *e), void *data,
	struct error *err);
/*
 * Appends the words of `egress test` whose session is open and was to end before now: it was
 * killed, since no run has them.
 */
must_check int store_egress_session_list_lost_tests(
	struct store *s, int64_t now, struct strv *ret, struct error *err);
/* Never back, and only of an open one: 0, or 1 = nothing moved. */
must_check int store_egress_session_renew(
	struct store *s, const char *id, int64_t deadline, struct error *err);
/* Counters only grow. */
must_check int store_egress_session_count(
	struct store *s, const char *id, int64_t bytes_up, int64_t bytes_down, struct error *err);
/* With the rows of the audit trail, in their transaction. */
must_check int store_egress_session_note_events(
	struct store *s, const char *id, int64_t events_read, struct error *err);
/*
 * 0, or 1 = it was not open. Of those that are closed, the oldest beyond
 * STORE_EGRESS_SESSIONS_KEPT go.
 */
must_check int store_egress_session_close(
	struct store *s, const char *id, const char *reason, struct error *err);
