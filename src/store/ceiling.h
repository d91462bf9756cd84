/*
 * Table ceiling: the caps that an operator set for one executor or one project (sandbox-spec.md
 * §10.1; the fleet's are in config.yaml). Amounts are kept and given as they stand there: whoever
 * uses them judges them first (limits/ceiling.h).
 */
#pragma once

#include "base/text.h"
#include "limits/ceiling.h"
#include "store/store.h"

/* One row; texts live as long as the call that shows it. */
struct store_ceiling {
	enum ceiling source; /* CEILING_EXECUTOR or CEILING_PROJECT */
	struct text subject; /* the executor's id, or the project's resolved path */
	struct limits limits;
	struct text set_at, set_by; /* RFC 3339 UTC; who */
};

/* The ceiling of one executor or project: 0, or 1 = there is none, and all of *ret is 0. */
must_check int store_ceiling_get(struct store *s, enum ceiling source, const char *subject,
	struct limits *ret, struct error *err);
/* Sets one, or replaces it; set_at is now. */
must_check int store_ceiling_put(
	struct store *s, const struct store_ceiling *row, struct error *err);
/* Drops one, if it is there. */
must_check int store_ceiling_drop(
	struct store *s, enum ceiling source, const char *subject, struct error *err);
/* Calls `row` for each: those of executors first, each group sorted by subject. */
must_check int store_ceiling_list(struct store *s,
	void (*row)(void *data, const struct store_ceiling *c), void *data, struct error *err);
