/*
 * Table project: what an operator or owner sets for a project (config.md §4). The key is the
 * resolved path of its directory, byte for byte; a project that moved is another one.
 */
#pragma once

#include "base/text.h"
#include "store/store.h"

/* Whose agent works in the project; it names the program that an image must carry. */
enum store_provider {
	STORE_PROVIDER_NONE, /* nobody's: plain commands */
	STORE_PROVIDER_CLAUDECODE,
	STORE_PROVIDER_COPILOT,
	STORE_PROVIDER_COUNT
};
const char *store_provider_text(enum store_provider provider);
/* -1: no such provider. */
int store_provider_from_text(struct text t);

/* One row; texts live as long as the call that shows it. */
struct store_project {
	struct text path;
	enum store_provider provider;
	struct text executor;   /* that its runs are bound to; p = NULL: none */
	struct text first_seen; /* RFC 3339 UTC */
};

/* Calls `row` for one project: 0, or 1 = it is not known. */
must_check int store_project_show(struct store *s, const char *path,
	void (*row)(void *data, const struct store_project *p), void *data, struct error *err);
/* Calls `row` for each, sorted by path. */
must_check int store_project_list(struct store *s,
	void (*row)(void *data, const struct store_project *p), void *data, struct error *err);

/* Makes the project known; one that is stays as it is. */
must_check int store_project_note(struct store *s, const char *path, struct error *err);
must_check int store_project_set_provider(
	struct store *s, const char *path, enum store_provider provider, struct error *err);
/* Binds the project, which becomes known, to an executor; NULL: to none. */
must_check int store_project_bind(
	struct store *s, const char *path, const char *executor, struct error *err);
/*
 * Drops its rows, those of its tasks, runs, journal and ceiling included, and no file: 0, or 1 =
 * there are none. Within a transaction of the caller's.
 */
must_check int store_project_forget(struct store *s, const char *path, struct error *err);
