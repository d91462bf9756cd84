/* The last members of a record: how a run ended, in the words of every supervised driver. */
#pragma once

#include "executor/container/decisions/classify.h"
#include "executor/rundir/record.h"
#include "executor/runlog/log-writer.h"

/* state, outcome, exit_code, signal, the exit status of `cloop run`, the warning oom_kill. */
void record_end_result(json_t *record, const struct classify_result *r);
/* A run that has no result: never started, or lost. */
void record_end_failure(json_t *record, const char *outcome, const struct error *err);
/* Of a log that still gets its `end` frame; warns of what could not be written. */
void record_end_log(json_t *record, struct log_stats stats);
/*
 * Writes the final record, durably; where that fails it is tried again for two seconds, during
 * which nothing else happens: the run has ended, and its callers wait for this alone. 0; 1: it is
 * not written, and the caller, who alone knows the end, tries again later (RECORD_END_AGAIN_MS).
 * Where the run's directory is gone that is 0, too.
 */
enum { RECORD_END_AGAIN_MS = 5000 };
must_check int record_end_write(const struct rundir *run, json_t *record);
/*
 * For a new supervisor that cannot read what was decided for the run. True: nobody ever will, since
 * the machine stopped before it was on the disk (nothing of the sandbox lives) or it was damaged
 * since; the record is final by now (`lost`), and nothing is left that needs a supervisor. False:
 * it is something else, and nothing was done. left: words of the warning `container_left`, for a
 * run that the engine may still know; or NULL.
 */
must_check bool record_end_undecided(const struct rundir *run, json_t *record, const char *left);
