/*
 * The engine's `run` client of a supervisor that died: it goes on making the container, and until
 * it has ended nobody can say that there is none (container-driver.md §9.1).
 */
#pragma once

#include <stdbool.h>

#include "executor/rundir/rundir.h"

/*
 * Sends `signal` (0 = none) to the clients whose line names this run's cid file; true: there is
 * one. It is found by that line, because no write to the run directory could come before its birth.
 */
bool orphan_signal(const struct rundir *run, int signal);

struct supervisor;
enum { ORPHAN_EVERY_MS = 50 };
/*
 * For a new supervisor, called every ORPHAN_EVERY_MS until it answers false (none is left): the
 * first call sends `signal` (0 = none), those after 2 s SIGKILL.
 */
bool orphan_works(struct supervisor *s, int signal);
