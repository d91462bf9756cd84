/* Homes of a container executor: where its runs live. */
#pragma once

#include "executor/rundir/home.h"
#include "lib/container.h"

/*
 * From now on this one counts; NULL or "": a private one, made in /tmp when there is none yet.
 * Looks after what it describes. Errors: home_unusable (also for a path that is not absolute), io.
 */
must_check int lib_home_attach(struct cloop_container *c, const char *home, struct error *err);
/* Ends what lives in the private home, and removes it. */
void lib_home_remove(struct cloop_container *c);
/* Runs whose supervisor died get one, what has ended comes into the ledger, and the like. */
void lib_home_look(struct lib_call *call, const struct home *home);
