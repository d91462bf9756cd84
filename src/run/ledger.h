/*
 * What a dispatch writes into the ledger: the project, its journal, the run of a task. One opening
 * and one transaction, and neither when there is nothing to write. Nothing here fails a run:
 * what cannot be written is a warning, and comes with the run's final record (run/import.h).
 */
#pragma once

#include <jansson.h>

#include "run/provider.h"
#include "run/task-attempt.h"

struct store;
struct store_event;

struct ledger_dispatch {
	const char *home;
	const struct provider *provider;
	const char *handle;              /* "" = the run never had a directory */
	const json_t *warnings;          /* list of {code, message}: those of the decision */
	const struct task_attempt *task; /* NULL = none */
};

/* The workload runs. */
void ledger_started(const struct ledger_dispatch *d);
/* The start waits for free space, or goes on: a row of the journal and one of the audit trail. */
void ledger_space(const struct ledger_dispatch *d, const char *text);
/*
 * A crossing of the free-space floor, which administrators are told of too (disk-and-secrets.md
 * §11): the event in the journal and in the audit trail. In the caller's transaction.
 */
must_check int ledger_crossing(struct store *s, const struct store_event *event, struct error *err);
/*
 * The run was refused before it had a directory (one that has is imported). Nothing is written when
 * it was the store itself that refused it.
 */
void ledger_refused(const struct ledger_dispatch *d, const struct error *refusal);
/* The same where not even the configuration could be read. */
void ledger_refused_early(const char *home, const char *dir, const struct error *refusal);
