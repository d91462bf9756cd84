/*
 * Final records into the ledger: whoever waits for a run, or the next command that looks, takes its
 * record over (ARCHITECTURE.md "Where state lives"). In one transaction: the row of the run, the
 * project, what its journal gets, the end of its lease and of the task that it was for. Any number
 * of processes may do so at once, and again after a crash: every step is made once.
 *
 * <run>/imported marks what is taken over; until then a run's directory is not removed for its age.
 */
#pragma once

#include "executor/rundir/rundir.h"

/* Takes one run over if it has ended. A failure is a warning: a later command does it. */
void import_run(const struct home *home, const struct rundir *run);
/* All runs of the home that have ended. */
void import_all(const struct home *home);
