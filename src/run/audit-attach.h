/*
 * Rows of the audit trail about attach sessions (container-driver.md §18.2): `attach.open` when one
 * runs, `attach.close` when it is over. Supervisors never open the ledger, so it is the client who
 * writes them: one that is killed leaves no second row. While others hold the ledger a row is tried
 * for 30 s. What cannot be put on record is not done: without the first row there is no session. A
 * second row that cannot be written is a warning on stderr.
 */
#pragma once

#include "base/json.h"
#include "executor/rundir/home.h"

struct audit_attach {
	const struct home *home;
	const char *actor; /* who attaches */
	const char *handle;
	const json_t *record; /* of the run */
	const char *command;  /* its first word */
	int64_t session;      /* number of the session in this run's supervisor */
	bool write, tty;
	/* For attach.close. */
	int exit_code;      /* -1: not known */
	int64_t left;       /* processes that could not be ended; -1 = unknown */
	const char *reason; /* ended, closed, idle, run_ended, lost */
};

/* Before a session is asked for: 0 = the ledger can be opened. Errors of store_open(). */
must_check int audit_attach_check(const struct audit_attach *a, struct error *err);
/* Errors: store_*; the caller closes the session. */
must_check int audit_attach_open(const struct audit_attach *a, struct error *err);
void audit_attach_close(const struct audit_attach *a);
