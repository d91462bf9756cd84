/*
 * Table task: what is to be run in a project, in the order it was added. An id belongs to one task
 * of the home and never comes back.
 *
 * pending → running by a claim: a token that one process made for this one attempt. The run of the
 * attempt carries the token in its record, so that it is found when that process is gone. Whatever
 * ends an attempt names it, by the run or the token: an end that comes late changes nothing.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"
#include "store/store.h"

enum store_task_state {
	STORE_TASK_PENDING,
	STORE_TASK_RUNNING,
	STORE_TASK_DONE,
	STORE_TASK_FAILED,
	STORE_TASK_STATE_COUNT
};
const char *store_task_state_text(enum store_task_state state);
int store_task_state_from_text(struct text t); /* -1: none */

/* One row; texts live as long as the call that shows it, p = NULL where there is none. */
struct store_task {
	int64_t id;
	struct text project, title;
	struct text argv; /* list of json_exact() */
	enum store_task_state state;
	struct text note;  /* why it is what it is */
	struct text run;   /* handle of the last run */
	struct text claim; /* of a running one */
	struct text created_at, started_at, finished_at;
};
typedef void store_task_row(void *data, const struct store_task *t);

struct store_task_new {
	const char *project, *title;
	const char *argv; /* or NULL: who runs it names the command */
};
must_check int store_task_add(
	struct store *s, const struct store_task_new *task, int64_t *ret_id, struct error *err);
/* Calls `row` for one task of the project: 0, or 1 = it has none of this id. */
must_check int store_task_show(struct store *s, const char *project, int64_t id,
	store_task_row *row, void *data, struct error *err);
/* Calls `row` for each, oldest first. */
must_check int store_task_list(
	struct store *s, const char *project, store_task_row *row, void *data, struct error *err);
/* The running ones of all projects. */
must_check int store_task_running(
	struct store *s, store_task_row *row, void *data, struct error *err);

/*
 * Makes the oldest pending task of the project (id 0), or this one, the claim's: 0 and *ret_id, or
 * 1 = none is pending, or that one is not.
 */
must_check int store_task_claim(struct store *s, const char *project, int64_t id, const char *claim,
	int64_t *ret_id, struct error *err);
/* The attempt has a run now: 0, or 1 = there is no such attempt (any more). */
must_check int store_task_link(
	struct store *s, const char *claim, const char *run, struct error *err);

/* How an attempt ended. */
struct store_task_end {
	int64_t id;
	const char *claim; /* or NULL */
	const char *run;   /* handle, or NULL */
	enum store_task_state state;
	const char *note; /* or NULL */
};
/* 0, or 1 = the task is not (any more) in an attempt with this run or, without run, this claim. */
must_check int store_task_end(struct store *s, const struct store_task_end *end, struct error *err);
/* Done or failed → pending: 0, or 1 = it is neither. */
must_check int store_task_reset(
	struct store *s, const char *project, int64_t id, struct error *err);
