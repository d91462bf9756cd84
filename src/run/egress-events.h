/*
 * What the proxies of runs told (EGRESS_EVENTS_FILE), as rows of the audit trail (network.md
 * §12.4): while a run lives, when its supervisor or a reader of the trail asks, and the rest with
 * its final record. How much of the file is there, the ledger says, in the transaction of the rows:
 * each event becomes one row, however many import at once and whoever is killed.
 */
#pragma once

#include "executor/rundir/rundir.h"
#include "run/egress-row.h"

/*
 * In the transaction of the caller, in which `r` was read, too. whole: the file is what it will be,
 * so that a last line that was not ended counts.
 */
must_check int egress_events_take(struct store *s, const struct rundir *run,
	const struct egress_row *r, bool whole, struct error *err);
/*
 * What is new of one run, in transactions of its own; none where nothing is new. 0, also when the
 * run's directory is gone; 1: the ledger knows no session of this run.
 */
must_check int egress_events_import(
	struct store *s, const struct home *home, const char *handle, struct error *err);
/*
 * The same of every run whose final record the ledger does not have, for who is about to read the
 * trail. What cannot be imported is a warning: a later command does it.
 */
void egress_events_import_live(struct store *s, const struct home *home);
