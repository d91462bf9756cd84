/*
 * Table journal: what happened in a project, for its owner, in the order it was written. Unlike the
 * audit trail it may be shortened: of each project the last STORE_JOURNAL_ROWS rows are kept.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

enum { STORE_JOURNAL_ROWS = 10000, STORE_JOURNAL_MESSAGE_MAX = 2048 };

struct store_event {
	const char *project; /* resolved path */
	const char *kind;    /* resource_ceiling, disk_limit, task.finish … */
	const char *run;     /* handle, or NULL */
	int64_t task;        /* 0 = none */
	const char *message; /* of anybody: kept without control characters, cut */
	int64_t at_ns;       /* realtime when it happened; 0 = now */
};
/*
 * Appends one row, in the caller's transaction if there is one. Of a run the same kind and message
 * (and time, if there is one) are kept once, so that who tells a run's story twice does no harm.
 */
must_check int store_journal_add(
	struct store *s, const struct store_event *event, struct error *err);

/* A row; texts live as long as the call that shows it. */
struct store_journal_row {
	int64_t seq;                          /* grows; not without gaps in one project */
	struct text time, kind, run, message; /* run: p = NULL when there is none */
	int64_t task;                         /* 0 = none */
};
/* Calls `row` for the last `limit` rows (0 = all) of a project, oldest first. */
must_check int store_journal_list(struct store *s, const char *project, int64_t limit,
	void (*row)(void *data, const struct store_journal_row *r), void *data, struct error *err);
