/*
 * Wiping the stage of a run (container-driver.md §15.2, §15.3): for a supervisor at the end of its
 * run, and for every command that meets a run whose supervisor is gone. What is unlinked this way
 * is gone inside a running sandbox at once; an open descriptor keeps what it has, but zeroed.
 */
#pragma once

#include "executor/rundir/rundir.h"

/*
 * Overwrites and unlinks one file of the directory. 0, also when there is none; a link is unlinked
 * and not followed. -1, secret_stage_failed: it is no file, and left, or something failed; an
 * unlink is tried in any case.
 */
must_check int stage_wipe_file(int dir, const char *name, struct error *err);
/* The same for everything in the directory: the first failure is told, the others are tried. */
must_check int stage_wipe_entries(int dir, struct error *err);
/*
 * Every file of the run's stage, the directory itself if it is the one that was made, then
 * stage.json. 0, also when the run has none; -1: secret_stage_failed or io, with the first thing
 * that failed; stage.json stays, so that somebody tries again.
 */
must_check int stage_wipe_run(const struct rundir *run, struct error *err);
/*
 * Stages of all runs of the home without a live supervisor whose record is final or of another
 * boot. Failures are only logged. One system call per run that has none.
 */
void stage_sweep(const struct home *h);
