#include "store/query.h"

#include <sqlite3.h>

#include "sys/fault.h"

static int failed(const struct query *q, int rc, struct error *err)
{
	return store_error(q->store, rc, sqlite3_sql(q->stmt), err);
}

void query_done(struct query *q)
{
	sqlite3_finalize(q->stmt);
	*q = QUERY_INIT;
}

int query_prepare(struct store *s, const char *sql, struct query *q, struct error *err)
{
	query_done(q);
	int rc = sqlite3_prepare_v2(store_db(s), sql, -1, &q->stmt, NULL);
	q->store = s;
	return rc == SQLITE_OK ? 0 : store_error(s, rc, sql, err);
}

static void bound(struct query *q, int rc)
{
	if (rc != SQLITE_OK && q->rc == SQLITE_OK)
		q->rc = rc;
}

void query_bind_text(struct query *q, struct text value)
{
	bound(q, sqlite3_bind_text64(
			 q->stmt, ++q->bound, value.p, value.len, SQLITE_TRANSIENT, SQLITE_UTF8));
}

void query_bind_int(struct query *q, int64_t value)
{
	bound(q, sqlite3_bind_int64(q->stmt, ++q->bound, value));
}

void query_bind_blob(struct query *q, struct text value)
{
	bound(q, sqlite3_bind_blob64(q->stmt, ++q->bound, value.p, value.len, SQLITE_TRANSIENT));
}

void query_bind_texts(struct query *q, const struct text *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		query_bind_text(q, values[i].p ? values[i] : TEXT(""));
}

void query_bind_ints(struct query *q, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		query_bind_int(q, values[i]);
}

void query_bind_int_or_null(struct query *q, int64_t value, int64_t none)
{
	if (value == none)
		query_bind_text(q, (struct text){NULL, 0});
	else
		query_bind_int(q, value);
}

int query_step(struct query *q, struct error *err)
{
	if (q->rc != SQLITE_OK)
		return failed(q, q->rc, err);
	int rc = !sqlite3_stmt_readonly(q->stmt) && fault_hit("store-write")
			 ? SQLITE_FULL
			 : sqlite3_step(q->stmt);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		return failed(q, rc, err);
	sqlite3_reset(q->stmt);
	q->bound = 0;
	return 0;
}

int query_run(struct query *q, struct error *err)
{
	int r;

	while ((r = query_step(q, err)) > 0)
		;
	return r;
}

struct text query_text(const struct query *q, int column)
{
	const char *p = (const char *)sqlite3_column_text(q->stmt, column);

	return (struct text){p, p ? (size_t)sqlite3_column_bytes(q->stmt, column) : 0};
}

struct text query_blob(const struct query *q, int column)
{
	const char *p = sqlite3_column_blob(q->stmt, column);

	return (struct text){p, p ? (size_t)sqlite3_column_bytes(q->stmt, column) : 0};
}

int64_t query_int(const struct query *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

int64_t query_int_or(const struct query *q, int column, int64_t none)
{
	return sqlite3_column_type(q->stmt, column) == SQLITE_NULL ? none : query_int(q, column);
}

int query_texts(const struct query *q, int column, struct text *const *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*ret[i] = query_text(q, column++);
	return column;
}

int query_ints(const struct query *q, int column, int64_t *const *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*ret[i] = query_int(q, column++);
	return column;
}

int query_exec(struct store *s, const char *sql, struct error *err)
{
	int rc = fault_hit("store-exec") ? SQLITE_FULL
					 : sqlite3_exec(store_db(s), sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : store_error(s, rc, sql, err);
}

int64_t query_changes(struct store *s)
{
	return sqlite3_changes64(store_db(s));
}

static int begin(struct store *s, const char *sql, struct query_transaction *t, struct error *err)
{
	if (query_exec(s, sql, err) < 0)
		return -1;
	t->store = s;
	return 0;
}

int query_begin(struct store *s, struct query_transaction *t, struct error *err)
{
	return begin(s, "BEGIN IMMEDIATE", t, err);
}

int query_begin_read(struct store *s, struct query_transaction *t, struct error *err)
{
	return begin(s, "BEGIN DEFERRED", t, err);
}

int query_commit(struct query_transaction *t, struct error *err)
{
	if (query_exec(t->store, "COMMIT", err) < 0)
		return -1;
	store_committed(t->store);
	t->store = NULL;
	return 0;
}

void query_transaction_done(struct query_transaction *t)
{
	/* SQLite rolls some failures back by itself; then there is nothing to do. */
	if (t->store && !sqlite3_get_autocommit(store_db(t->store)))
		sqlite3_exec(store_db(t->store), "ROLLBACK", NULL, NULL, NULL);
	if (t->store)
		store_rolled_back(t->store);
	t->store = NULL;
}
