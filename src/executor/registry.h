/*
 * The executors of this process: at most 64, ids unique. Which drivers exist is a table in
 * registry.c; a third driver is a folder and one row.
 */
#pragma once

#include "executor/executor.h"

struct container_options;
struct image_policy;
struct provenance_rules;

enum { REGISTRY_EXECUTORS_MAX = 64 };

struct registry {
	struct executor *executors[REGISTRY_EXECUTORS_MAX]; /* owned, in the order of adding */
	size_t n;
};
void registry_done(struct registry *r);

/* Takes e (freed when refused). -1: usage, the id is taken or the registry is full. */
must_check int registry_add(struct registry *r, struct executor *e, struct error *err);
/* NULL: executor_unknown, the message lists the ids. */
must_check struct executor *registry_find(
	const struct registry *r, const char *id, struct error *err);
/* What each of them advertises, r->n entries that borrow from r; caller frees the array. */
must_check struct candidate *registry_candidates(const struct registry *r);

/* What the drivers need of config.yaml. */
struct registry_settings {
	const char *home;                          /* NULL = none yet (executor test) */
	const struct container_options *container; /* normalized; NULL = switched off */
	const struct image_policy *image_policy;   /* validated; outlives the executors */
	const struct provenance_rules *provenance; /* outlives the executors */
	uint64_t derived_image_days;               /* of `container`; 0 = never reaped */
	bool allow_host_process;
};
