/*
 * The executors of this process: at most 64, ids unique. Which drivers exist is a table in
 * drivers/drivers.c; a third driver is a folder and one row.
 */
#pragma once

#include "executor/executor.h"

struct container_options;
struct egress_filter;
struct image_policy;
struct provenance_rules;

enum { EXECUTOR_LIST_MAX = 64 };

struct executor_list {
	struct executor *items[EXECUTOR_LIST_MAX]; /* owned, in the order of adding */
	size_t n;
};
void executor_list_done(struct executor_list *l);

/* Takes e (freed when refused). -1: usage, the id is taken or the list is full. */
must_check int executor_list_add(struct executor_list *l, struct executor *e, struct error *err);
/* NULL: executor_unknown, the message lists the ids. */
must_check struct executor *executor_list_find(
	const struct executor_list *l, const char *id, struct error *err);
/* What each of them advertises, l->n entries that borrow from l; caller frees the array. */
must_check struct candidate *executor_list_candidates(const struct executor_list *l);

/* What the drivers need of config.yaml. */
struct executor_settings {
	const char *home;                          /* NULL = none yet (executor test) */
	const struct container_options *container; /* normalized; NULL = switched off */
	const struct egress_filter *filter;        /* of `container`; outlives the executors */
	const struct image_policy *image_policy;   /* validated; outlives the executors */
	const struct provenance_rules *provenance; /* outlives the executors */
	uint64_t derived_image_days;               /* of `container`; 0 = never reaped */
	bool allow_host_process;
	bool egress_enabled; /* executors.egress.enabled */
};
