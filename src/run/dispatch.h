/*
 * `cloop run`: a decision carried out (sandbox-spec.md §9.1, container-driver.md §9.1).
 */
#pragma once

#include "run/decision.h"
#include "run/task-attempt.h"

struct dispatch {
	struct decision_input input;
	const char *config; /* the context's file; read again after a wait for free space */
	const struct text *argv;
	size_t n_argv;
	const struct request_label *labels;
	size_t n_labels;
	const char *title;               /* NULL = none */
	const struct task_attempt *task; /* that this run is for; NULL = none */
	int64_t timeout_ms;              /* 0 = none */
	int cancel_fd;                   /* readable: give up; -1 = none */
	/* What the build of an image prints: as struct executor_start. */
	void (*show_build)(void *data, struct text piece);
	void *show_build_data;
	/* Hears that the start waits for free space, and that it goes on; NULL = nobody. */
	void (*show_space)(void *data, const char *handle, const char *text, bool waits);
	void *show_space_data;
};

struct dispatched {
	char handle[EXECUTOR_HANDLE_SIZE]; /* "" when the run never had a directory */
	int supervisor;                    /* pidfd; the caller's; -1 = none */
	json_t *refused; /* handle "": the record as far as it was decided; the caller's */
};

/*
 * Returns when the workload runs (0) or is refused (-1). A refusal after the run directory was made
 * leaves its record there; the handle is filled then. Both are in the project's journal.
 *
 * A run that waited for free space is decided anew with what file, configuration, ceilings and
 * grants say then; start_cancelled where that would be another executor.
 */
must_check int dispatch_run(const struct context *c, const struct dispatch *d,
	struct dispatched *ret, struct error *err);
/*
 * What a run would get, and why, as cli.md's `sandbox explain`; starts nothing. *ret is filled as
 * far as it came, also on -1.
 */
must_check int dispatch_explain(
	const struct context *c, const struct dispatch *d, json_t **ret, struct error *err);
