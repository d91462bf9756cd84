/*
 * Looking at a home before runs or tasks are shown: a run whose supervisor died gets a new one,
 * one that has ended comes into the ledger, a task whose attempt is over ends
 * (container-driver.md §16.2, ARCHITECTURE.md "Where state lives"). Failures are warnings.
 */
#pragma once

#include "executor/rundir/home.h"

/* Waits for nothing: what a new supervisor finds is there at the next look. */
void look_at_runs(const struct home *home);
/*
 * The same, but where the supervisor of a task's run died it is given a moment to say how that
 * ended: 1 s, or 5 s when the host was started anew since.
 */
void look_at_tasks(const struct home *home);
