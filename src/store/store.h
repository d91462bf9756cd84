/*
 * <home>/state.db, cloop's ledger (ARCHITECTURE.md "Where state lives"): SQLite in WAL mode, STRICT
 * tables, foreign keys, a busy timeout of 5 s, commits that outlive a power cut. One file per table
 * (store/project.h, …); what a statement needs is in store/query.h, the tables in
 * store/migrations.c.
 *
 * A run that needs nothing of it does not open it; shims never do.
 */
#pragma once

#include "base/error.h"

struct sqlite3;
struct store;

/*
 * Opens the store of a home (resolved path, a directory of ours), making the file (0600) and
 * bringing its tables up to date. Any number of processes may do so at once. A file of ours that
 * others may read is made private first (0600), whatever comes of it. Errors, none of which changes
 * a byte of the file: store_newer (a newer cloop wrote it), store_corrupt (it is damaged, or
 * somebody else's database), store_busy, no_space, store_failed.
 */
must_check int store_open(const char *home, struct store **ret, struct error *err);
/* The same, but 1 and no store when there is no file yet. */
must_check int store_open_existing(const char *home, struct store **ret, struct error *err);
void store_free(struct store *s);
DEFINE_AUTO_PTR(store)

/*
 * From here on this connection overwrites in the file what it deletes or replaces. For what must
 * not be found again: store_fold_log() afterwards, since the log still holds it.
 */
must_check int store_erase(struct store *s, struct error *err);
/* Writes the log into the file and empties it, as far as nobody else is reading. Never waits. */
void store_fold_log(struct store *s);

/*
 * Commits of this opening do not wait for the disk: a power cut may take the last of them back, a
 * crash of a process never. For what can be written again.
 */
must_check int store_relax(struct store *s, struct error *err);

struct sqlite3 *store_db(struct store *s);
const char *store_home(const struct store *s);
/*
 * A row of the audit trail that becomes its last one with the transaction that is open: noted
 * (store/witness.h) when that is committed, forgotten when it is rolled back.
 */
struct witness;
void store_witness_later(struct store *s, const struct witness *w);
void store_committed(struct store *s);
void store_rolled_back(struct store *s);
const char *store_path(const struct store *s);

/*
 * Fills err for an SQLite result code while doing `what`: store_busy, store_corrupt, no_space, else
 * store_failed. Always -1.
 */
int store_error(const struct store *s, int rc, const char *what, struct error *err);
