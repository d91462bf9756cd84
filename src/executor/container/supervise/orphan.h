/*
 * What a killed start leaves at work: the engine's `run` client of a supervisor that died, which
 * goes on making the container, and the monitor of a client that died, which the engine forgets
 * (container-driver.md §9.1). Until they have ended nobody can say that nothing is left.
 */
#pragma once

#include <stdbool.h>

#include "executor/rundir/rundir.h"

/*
 * Sends `signal` (0 = none) to the clients whose line names this run's cid file; true: there is
 * one. It is found by that line, because no write to the run directory could come before its birth.
 */
bool orphan_signal(const struct rundir *run, int signal);

/* docker: a pidfd of our client that writes what this container says into RUN/stdout.fifo; -1 =
 * there is none. */
int orphan_client(const struct rundir *run, const char *container_id);

struct supervisor;
enum { ORPHAN_EVERY_MS = 50 };
/*
 * For a new supervisor, called every ORPHAN_EVERY_MS until it answers false (none is left): the
 * first call sends `signal` (0 = none), those after 2 s SIGKILL. Also to those that start the
 * container by its id (§9.2).
 */
bool orphan_works(struct supervisor *s, int signal);
/*
 * podman 4.3.1 that is killed between the runtime's `create` and its own note of it forgets conmon
 * and the runtime's init, `rm --force` included. Ends what such a monitor of this container keeps
 * (`hard`: and itself); true: there is one.
 */
bool orphan_monitor(const char *container_name, bool hard);
