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
