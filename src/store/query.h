/*
 * Statements of the store. Values are always bound, never written into SQL; what goes wrong while
 * binding is reported by the next query_step().
 *
 *     AUTO(query) q = QUERY_INIT;
 *     if (query_prepare(store, "SELECT provider FROM project WHERE path = ?", &q, err) < 0)
 *             return -1;
 *     query_bind_text(&q, text_of(path));
 *     int r = query_step(&q, err);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/store.h"

struct sqlite3_stmt;

struct query {
	struct store *store; /* borrowed */
	struct sqlite3_stmt *stmt;
	int bound; /* parameters bound so far */
	int rc;    /* first failure of a bind */
};
#define QUERY_INIT ((struct query){0})
void query_done(struct query *q);

/* One statement; what q held is released. */
must_check int query_prepare(struct store *s, const char *sql, struct query *q, struct error *err);
/* The next parameter, from the first on. The bytes are copied; p = NULL binds NULL. */
void query_bind_text(struct query *q, struct text value);
void query_bind_int(struct query *q, int64_t value);
void query_bind_blob(struct query *q, struct text value);
/* The next n; p = NULL binds an empty text. */
void query_bind_texts(struct query *q, const struct text *values, size_t n);
void query_bind_ints(struct query *q, const int64_t *values, size_t n);
/* A number where `none` stands for NULL. */
void query_bind_int_or_null(struct query *q, int64_t value, int64_t none);
/* 1 = there is a row to read, 0 = done, -1 = failed. After 0 the parameters can be bound anew. */
must_check int query_step(struct query *q, struct error *err);
/* A statement without rows: 0 or -1. */
must_check int query_run(struct query *q, struct error *err);

/* Columns of the row, from 0; text lives until the next step. NULL: p = NULL, 0. */
struct text query_text(const struct query *q, int column);
struct text query_blob(const struct query *q, int column);
int64_t query_int(const struct query *q, int column);
int64_t query_int_or(const struct query *q, int column, int64_t none); /* NULL: none */
/* n columns from the given one on; which one comes behind them. */
int query_texts(const struct query *q, int column, struct text *const *ret, size_t n);
int query_ints(const struct query *q, int column, int64_t *const *ret, size_t n);

/* SQL without parameters and without rows: one or more statements. */
must_check int query_exec(struct store *s, const char *sql, struct error *err);
/* Rows that the last statement inserted, changed or deleted. */
int64_t query_changes(struct store *s);

/*
 * BEGIN IMMEDIATE; what is not committed when the scope ends is rolled back.
 *
 *     AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
 *     if (query_begin(store, &t, err) < 0 || … || query_commit(&t, err) < 0)
 *             return -1;
 */
struct query_transaction {
	struct store *store; /* NULL: none is open */
};
#define QUERY_TRANSACTION_INIT ((struct query_transaction){NULL})
must_check int query_begin(struct store *s, struct query_transaction *t, struct error *err);
/*
 * The same for reading only: everything is seen as it was at the first read, and nobody who writes
 * is kept waiting, however long it takes.
 */
must_check int query_begin_read(struct store *s, struct query_transaction *t, struct error *err);
must_check int query_commit(struct query_transaction *t, struct error *err);
void query_transaction_done(struct query_transaction *t);
