/* One run of `cloop run`, from its options to its exit status. */
#pragma once

#include <jansson.h>

#include "executor/rundir/rundir.h"
#include "run/task-attempt.h"

struct cli;
struct record_file;

struct run_session_job {
	char *const *argv;
	size_t n_argv;
	const char *title;                     /* NULL = none */
	const struct task_attempt *task;       /* that it is for; NULL = none */
	const struct record_file *record_file; /* gets the record; NULL = none */
	int signals;                           /* signals_catch() */
	json_t *records; /* --json: the record is appended; NULL: it is printed */
	/* What became of it. */
	char handle[HANDLE_SIZE]; /* "" when it never had a directory */
	int signal;               /* the last that arrived for us; 0 = none */
};
/*
 * Runs it by the options of the command line (--executor, --timeout, --detach, --env, --label): the
 * exit status, or -1 when it was refused.
 */
must_check int run_session(struct cli *c, struct run_session_job *job, struct error *err);
/* --record of a run that was refused before it came to run_session(). Always returns -1. */
int run_session_refused(struct cli *c, struct run_session_job *job, const struct error *err);
