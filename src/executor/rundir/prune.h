/* Old runs make room (container-driver.md §16.1). */
#pragma once

#include "executor/rundir/rundir.h"

/*
 * Removes the oldest finished runs beyond RUNDIR_FINISHED_KEPT, but for those that still have
 * something to remove or are not in the ledger yet; failures are only logged. Costs a listing of
 * <home>/runs and, for each run that was not known to be finished, one record.
 */
void prune_runs(const struct home *h);
