/*
 * The init of a gated run: connects to the shim, waits for its `go`, starts the workload, reaps,
 * passes signals on, keeps attach sessions, reports the end (container-driver.md §23.2). What to do
 * is decided by machine.h; this part does it.
 */
#pragma once

/* Runs argv as the workload. Never comes back but for what keeps it from starting at all. */
int gate_main(char **argv);
