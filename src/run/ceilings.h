/*
 * The operator's ceilings of a run, from all three places (sandbox-spec.md §10.1, §10.4), and how
 * those of an executor or a project are changed.
 */
#pragma once

#include <stdbool.h>

#include "limits/ceiling.h"

struct candidate;
struct executor;
struct store;

struct ceilings {
	struct limits of[CEILING_COUNT];
};

/*
 * What the store has for runs on this executor in this project (its resolved path); that of the
 * fleet stays as it is. `s` NULL: the home has no store, and so none. Amounts are not judged.
 */
must_check int ceilings_load(struct store *s, const char *executor, const char *project,
	struct ceilings *ret, struct error *err);
/* limits_configuration, naming the ceiling, the key and the value: one of them is out of range. */
must_check int ceilings_check(const struct ceilings *c, const char *executor, struct error *err);
/* The same of one that the store has. source: executor or project. */
must_check int ceilings_check_stored(
	enum ceiling source, const char *subject, const struct limits *l, struct error *err);

/* As render_ceiling(), of one that the store has: "broken" where it is. Caller frees. */
must_check char *ceilings_render(const struct limits *l);
/* One of its resources is capped. */
bool ceilings_any(const struct limits *l);
/*
 * Tells, resource by resource, what of a ceiling the executor that advertises `able` cannot hold,
 * in a sentence that names it `id`.
 */
typedef void ceilings_unheld_fn(void *data, const char *sentence);
void ceilings_unheld(const struct limits *l, const struct candidate *able, const char *id,
	ceilings_unheld_fn *tell, void *data);
/* The same; of an executor that is not available nothing is known, and nothing told. */
void ceilings_unheld_by(
	const struct limits *l, const struct executor *e, ceilings_unheld_fn *tell, void *data);

struct ceilings_change {
	enum ceiling source; /* CEILING_EXECUTOR, CEILING_PROJECT */
	const char *subject; /* the executor's id, or the project's resolved path */
	const char *actor;
	bool given[RESOURCE_COUNT]; /* the others stay as they are */
	struct limits limits;       /* judged by ceiling_parse(); 0 = none any more */
};
/*
 * 0: changed, with a row in the audit trail (limits.set, limits.clear) and, of a project, in its
 * journal; 1: it is so already. ret_now: what is set then. limits_configuration: what else is set
 * there is broken; what only takes ceilings away is never refused for that.
 */
must_check int ceilings_change(struct store *s, const struct ceilings_change *c,
	struct limits *ret_now, struct error *err);
/* The same within a transaction of the caller's. */
must_check int ceilings_change_within(struct store *s, const struct ceilings_change *c,
	struct limits *ret_now, struct error *err);
