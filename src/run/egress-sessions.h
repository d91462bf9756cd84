/*
 * Sessions of runs in the ledger (network.md §12.1, §12.4): opened before the workload starts,
 * renewed with the run's lease, closed once. All in the transaction of the caller.
 */
#pragma once

#include "egress/session.h"
#include "executor/rundir/rundir.h"
#include "vault/two-clocks.h"

struct store;

struct egress_sessions_who {
	const char *run, *project, *executor;
};
/*
 * Judges the grant once more, moves the session's deadline to what it is from now on, inserts the
 * row and writes egress.open. -1: grant_revoked, when the grant ended since it was judged.
 */
must_check int egress_sessions_open(struct store *s, struct egress_session *session,
	const struct egress_sessions_who *who, const struct two_clocks *now, struct error *err);
/*
 * The run's session lives on, if its grant does: {"session","deadline_boottime_ms","expires_in_s"},
 * or null where there is none that is open, its grant is over, or its own time: by boottime in the
 * boot in which it was opened, else by the wall clock. Never shortens; egress.renew only where the
 * deadline moved.
 */
must_check int egress_sessions_renew(struct store *s, const char *run, const struct two_clocks *now,
	json_t **ret, struct error *err);
/* Closes those of `egress test` that were killed, once they are over. */
must_check int egress_sessions_close_lost_tests(
	struct store *s, const struct two_clocks *now, struct error *err);
/* Closes the run's session, if it is open, with one row egress.close. */
must_check int egress_sessions_close(
	struct store *s, const char *run, const char *reason, struct error *err);
/*
 * The same, after the counters that the run's supervisor put on record and what its proxy told up
 * to now.
 */
must_check int egress_sessions_settle(struct store *s, const struct home *home, const char *run,
	const char *reason, struct error *err);
/* The same for who takes over a final record: closed for the reason that it names. */
must_check int egress_sessions_import(
	struct store *s, const struct rundir *run, const json_t *record, struct error *err);
