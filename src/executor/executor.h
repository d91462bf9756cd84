/*
 * An executor: something that runs workloads. One const table of operations per driver; every
 * operation has a safe default, so a driver that leaves one out refuses, and nothing falls back to
 * the host.
 *
 * The state of a run lives in its directory, <home>/runs/<handle>/, not in an executor. An executor
 * object holds configuration and facts gathered when it was made; any process may make another one
 * and ask it about the same runs.
 *
 * Call the executor_* functions, not the table: they supply the defaults and put
 * "executor ID: " in front of a message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "executor/candidate.h"
#include "image/verdict.h"

struct container_request; /* executor/container/request.h: one run, decided */
struct executor;
struct material; /* vault/material.h */

enum { EXECUTOR_HANDLE_SIZE = 16 }; /* "c-", 12 hexadecimal digits, NUL */

enum executor_signal {
	EXECUTOR_INTERRUPT, /* SIGINT to the workload's process group; only delivered */
	EXECUTOR_TERMINATE, /* SIGTERM, the same */
	EXECUTOR_KILL,      /* request `cancelled` */
	EXECUTOR_SIGNAL_COUNT
};
const char *executor_signal_text(enum executor_signal s); /* interrupt, terminate, kill */
int executor_signal_from_text(struct text t);

/*
 * What start gets. The request says what the workload may see; the rest is how the run is kept.
 * Everything is borrowed for the duration of the call.
 */
struct executor_start {
	const char *home; /* absolute; <home>/runs exists */
	const struct container_request *request;
	enum image_origin image_origin; /* who chose request->image */
	const struct strv *harnesses;   /* programs that the image must carry; NULL = none */
	/* First record of the run (architecture §6) without what the driver itself knows. */
	const json_t *record;
	const char *disk_source; /* of the disk limit: "spec", "ceiling"; NULL = not known */
	int64_t timeout_ms;      /* 0 = none; from the moment the workload runs */
	int cancel_fd;           /* readable = give up; -1 = none */
	/* Commands that make an image for this run from the request's (image-trust.md §11). */
	const struct text *setup;
	size_t n_setup;
	/* Gets what a build prints, sanitised, at most 4096 bytes at a time; NULL = nobody. */
	void (*show_build)(void *data, struct text piece);
	void *show_build_data;
	/*
	 * Floor of free space in MB, 0 = off (disk-and-secrets.md §11): below it the start waits.
	 * `space` hears of a run that waits, and that it goes on; NULL = nobody.
	 */
	uint64_t min_free_mb;
	void (*space)(void *data, const char *handle, bool low, const char *text);
	void *space_data;
	const struct strv *redact; /* names of variables masked in the output; NULL = none */
	/* What the run's lease brings; its variables are in request->env already. NULL = none. */
	const struct material *material;
	/*
	 * Called once the run has its directory and image, before anything of the material leaves
	 * this process: puts on record that the run holds it. -1 refuses the start. NULL = nothing.
	 */
	int (*hold)(void *data, const char *handle, struct error *err);
	void *hold_data;
	/*
	 * Called after a wait for free space: what the run is was decided before it. Another struct
	 * of the same executor, to be started instead; both live until the start returns. -1
	 * refuses it. NULL = nothing is decided anew.
	 */
	int (*again)(void *data, const struct executor **ret_executor,
		const struct executor_start **ret, struct error *err);
	void *again_data;
	/* Gets a pidfd of the run's supervisor (readable when it is gone; the caller's), or NULL.
	 */
	int *ret_supervisor;
};

struct executor_stop {
	int64_t grace_ms;   /* between SIGTERM and SIGKILL; -1 = the executor's own */
	const char *reason; /* for the record; may be NULL */
};

struct executor_attach {
	bool write;             /* input is passed on */
	bool tty;               /* on a terminal, else on pipes */
	char *const *argv;      /* NULL-terminated; NULL = the workload's own shell */
	uint16_t rows, columns; /* of the terminal; 0 = unknown */
};

struct executor_ops {
	const char *kind; /* "container" … */

	/*
	 * What the executor can do, from configuration and gathered facts: costs nothing, starts no
	 * process. Texts live as long as the executor. Default: claims nothing.
	 */
	void (*capabilities)(const struct executor *e, struct candidate *ret);
	/* Is it usable now? 0, or -1 with the reason. May call the engine. */
	int (*health_check)(const struct executor *e, struct error *err);

	/*
	 * Blocks until the workload runs (0, handle filled, directory complete) or is refused (-1:
	 * nothing of it is left). The workload outlives the caller. ret_handle is filled as soon
	 * as the run has a directory, also when the start then fails; else it is "".
	 */
	int (*start)(const struct executor *e, const struct executor_start *start,
		char ret_handle[EXECUTOR_HANDLE_SIZE], struct error *err);
	/* An ended run: 0, nothing done. Unknown handle: handle_not_found. */
	int (*signal)(const struct executor *e, const char *home, const char *handle,
		enum executor_signal signal, struct error *err);
	/* Request `cancelled` and the ladder TERM, grace, KILL; returns when the workload ended. */
	int (*stop)(const struct executor *e, const char *home, const char *handle,
		const struct executor_stop *how, struct error *err);
	/* The record (status.json); never asks an engine. Caller owns *ret. */
	int (*status)(const struct executor *e, const char *home, const char *handle, json_t **ret,
		struct error *err);
	/* Directory with the segments of the run's output, for a reader (log format §11). */
	int (*open_log)(const struct executor *e, const char *home, const char *handle,
		int *ret_dir, struct error *err);
	/* Runs of this executor, newest first; appended to *ret. Default: none. */
	int (*handles)(
		const struct executor *e, const char *home, struct strv *ret, struct error *err);
	/*
	 * A connected socket that speaks the attach protocol (§18). attach_closed: not running;
	 * with the detail `soon`, it may be later.
	 */
	int (*attach)(const struct executor *e, const char *home, const char *handle,
		const struct executor_attach *how, int *ret_fd, struct error *err);
	/*
	 * Takes a lease back from a run (§15.4): the outcome is an object, not an error. `wait_ms`
	 * of the request is how long the caller waits; without it, as long as it takes.
	 */
	int (*revoke_lease)(const struct executor *e, const char *home, const char *handle,
		const json_t *request, json_t **ret, struct error *err);

	/* Findings (§19.1), work_dir may be NULL; failed checks are findings, not errors. */
	int (*preflight)(
		const struct executor *e, const char *work_dir, json_t **ret, struct error *err);
	/* A real run (§19.2); -1 when it did not succeed, *ret filled as far as it came. */
	int (*smoke_test)(
		const struct executor *e, const char *work_dir, json_t **ret, struct error *err);
	/*
	 * Names removed, appended sorted, on failure too (§16.3). Default: nothing to reap; an
	 * executor that is not available cannot tell.
	 */
	int (*reap_orphans)(const struct executor *e, const char *home, struct strv *ret_names,
		struct error *err);

	/* Releases `driver`. Default: nothing to release. */
	void (*free)(void *driver);
};

struct executor {
	const struct executor_ops *ops;
	char *id;     /* owned */
	void *driver; /* the driver's own; freed by ops->free */
};

/* Takes `driver`; copies id. */
must_check struct executor *executor_new(
	const struct executor_ops *ops, const char *id, void *driver);
/*
 * An executor that is configured and cannot be used (an engine that is missing): it is listed,
 * advertises health `unreachable`, and every operation fails with `reason` (moved from).
 */
must_check struct executor *executor_new_unavailable(
	const char *kind, const char *id, struct error *reason);
void executor_free(struct executor *e);
DEFINE_AUTO_PTR(executor)

const char *executor_kind(const struct executor *e);
/* NULL, or why it was made by executor_new_unavailable(). */
const struct error *executor_unavailable_reason(const struct executor *e);

void executor_capabilities(const struct executor *e, struct candidate *ret);
must_check int executor_health_check(const struct executor *e, struct error *err);
must_check int executor_start(const struct executor *e, const struct executor_start *start,
	char ret_handle[EXECUTOR_HANDLE_SIZE], struct error *err);
must_check int executor_signal(const struct executor *e, const char *home, const char *handle,
	enum executor_signal signal, struct error *err);
must_check int executor_stop(const struct executor *e, const char *home, const char *handle,
	const struct executor_stop *how, struct error *err);
must_check int executor_status(const struct executor *e, const char *home, const char *handle,
	json_t **ret, struct error *err);
must_check int executor_open_log(const struct executor *e, const char *home, const char *handle,
	int *ret_dir, struct error *err);
must_check int executor_handles(
	const struct executor *e, const char *home, struct strv *ret, struct error *err);
must_check int executor_attach(const struct executor *e, const char *home, const char *handle,
	const struct executor_attach *how, int *ret_fd, struct error *err);
must_check int executor_revoke_lease(const struct executor *e, const char *home, const char *handle,
	const json_t *request, json_t **ret, struct error *err);
must_check int executor_preflight(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err);
must_check int executor_smoke_test(
	const struct executor *e, const char *work_dir, json_t **ret, struct error *err);
must_check int executor_reap_orphans(
	const struct executor *e, const char *home, struct strv *ret_names, struct error *err);
