/*
 * Table run: the final records of runs, one row each, for longer than the run's directory is kept.
 * A row is written once and never changed; of all of a home the last STORE_RUN_ROWS are kept.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

enum { STORE_RUN_ROWS = 10000 };

/* Texts: p = NULL where there is none; numbers: -1. As in the record (ARCHITECTURE.md §6). */
struct store_run {
	struct text handle, project, title, executor_id, executor_kind, isolation;
	struct text state, outcome, error, code;
	struct text image_requested, image, image_digest, sandbox_sha256, setup_sha256;
	struct text started_at, finished_at;
	int64_t task; /* 0 = none */
	int64_t exit_code, signal, cli_exit;
	int64_t wall_ms, disk_used_mb, disk_limit_mb;
	bool reproducible;
};

/* 0, or 1 = this run is there already. In the caller's transaction, if there is one. */
must_check int store_run_add(struct store *s, const struct store_run *run, struct error *err);
/* Calls `row` for one run; texts live as long as that call. 0, or 1 = it is not there. */
must_check int store_run_show(struct store *s, const char *handle,
	void (*row)(void *data, const struct store_run *r), void *data, struct error *err);
