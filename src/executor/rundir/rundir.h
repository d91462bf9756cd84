/*
 * The directory of a run: <home>/runs/<handle>/ (0700). It is the run: whoever holds `lock` is its
 * supervisor, `status.json` says what is known, `request.json` what was decided (no secret value),
 * `log/` what it printed. Files are replaced atomically, so a reader never sees a half.
 */
#pragma once

#include <time.h>

#include "base/json.h"
#include "base/strv.h"
#include "executor/rundir/home.h"

enum {
	HANDLE_SIZE = 15,           /* "c-" + 12 hexadecimal digits + NUL */
	RUNDIR_FINISHED_KEPT = 256, /* container-driver.md §16.1 */
	RUNDIR_RUNS_MAX = 100000,   /* that are looked at */
	RUNDIR_FILE_MAX = 8 << 20,
};

struct rundir {
	char handle[HANDLE_SIZE];
	int fd;
	char *path;
};
#define RUNDIR_INIT ((struct rundir){.fd = -1})
void rundir_done(struct rundir *r);

/* A new handle and its empty directory. Errors: home_unusable. */
must_check int rundir_create(const struct home *h, struct rundir *ret, struct error *err);
/* Errors: handle_invalid, handle_not_found; io: it may be there, and there are no descriptors. */
must_check int rundir_open(
	const struct home *h, const char *handle, struct rundir *ret, struct error *err);
/*
 * For who does something about a run that is gone: 0; 1 = no run, or none any more; -1, io: that
 * cannot be told now, and nothing follows from it.
 */
must_check int rundir_look(
	const struct home *h, const char *handle, struct rundir *ret, struct error *err);
/* RUN of the command line: a handle or a unique prefix of one, `c-` optional (cli.md). */
must_check int rundir_find(
	const struct home *h, const char *prefix, struct rundir *ret, struct error *err);
/* Handles, in no order. */
must_check int rundir_handles(const struct home *h, struct strv *ret, struct error *err);
/* When the run was made: the one write of request.json, else the directory itself. */
struct timespec rundir_made_at(const struct home *h, const char *handle);
/* Handles, newest first. */
must_check int rundir_list(const struct home *h, struct strv *ret, struct error *err);
/* Removes the whole directory. */
must_check int rundir_remove(const struct home *h, const char *handle, struct error *err);
/*
 * For who made it and failed: removes it if it has no record, so that nobody has to wonder about
 * it. True: it is gone.
 */
bool rundir_discard(const struct home *h, const struct rundir *r);
/* 1 a supervisor holds the lock, 0 nobody does, -1 + err. */
must_check int rundir_supervised(const struct rundir *r, struct error *err);

/*
 * Files that only a live run has are still there: its supervisor died before it had removed the
 * container, or could not give an interface of the host back.
 */
bool rundir_has_leftovers(const struct rundir *r);
/* Removes them: nothing behind them is there any more, or what they lead to is left to the reaper.
 */
void rundir_drop_leftovers(const struct rundir *r);

/* It has neither record nor request.json, or empty ones: it begins, or never did. */
bool rundir_is_blank(const struct rundir *r);
/*
 * Its start died between making the directory and the first record, at least 10 s ago: nothing
 * else was made. Or a power cut took what was written (rundir_is_empty): nothing of the run lives.
 */
bool rundir_stillborn(const struct rundir *r);
/*
 * A file that was written and not synced before the machine stopped: its name is there and its
 * content is not. Files are replaced as a whole, so nothing else leaves an empty one.
 */
bool rundir_is_empty(const struct rundir *r, const char *name);
/* It is not there, or such a file. */
bool rundir_lacks(const struct rundir *r, const char *name);
/*
 * No JSON object can be had of a file of the run, and none will be: it is not there, or holds
 * something else. False where that cannot be told now.
 */
bool rundir_damaged(const struct rundir *r, const char *name);

/*
 * The ledger has its final record (run/import.h), as far as is known in this boot: a power cut may
 * have taken it back, so each boot makes sure anew.
 */
#define RUNDIR_IMPORTED_FILE "imported"
bool rundir_imported(const struct rundir *r);
must_check int rundir_mark_imported(const struct rundir *r, struct error *err);

must_check json_t *rundir_read(const struct rundir *r, const char *name, struct error *err);
must_check int rundir_write(
	const struct rundir *r, const char *name, json_t *value, bool durable, struct error *err);

/*
 * Room for the final record, kept from the start on: a workload that fills the disk with its
 * output must not take the word how it ended with it. no_space, io.
 */
must_check int rundir_reserve(const struct rundir *r, struct error *err);
void rundir_release(const struct rundir *r);
