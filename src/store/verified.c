#include "store/verified.h"

#include "store/query.h"
#include "store/store.h"

enum { MS = 1000 };

int verified_find(struct store *s, const struct verified *v, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "SELECT 1 FROM verified WHERE fingerprint = ? AND reference = ? AND boot_id = "
		    "? "
		    "AND boottime_ms <= ? AND boottime_ms > ?",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(v->fingerprint));
	query_bind_text(&q, text_of(v->reference));
	query_bind_text(&q, text_of(v->boot_id));
	query_bind_int(&q, v->boottime_ms);
	query_bind_int(&q, v->boottime_ms - (int64_t)VERIFIED_SECONDS * MS);
	int row = query_step(&q, err);
	if (row < 0)
		return -1;
	return row ? 0 : VERIFIED_UNKNOWN;
}

static int insert(struct store *s, const struct verified *v, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT OR REPLACE INTO verified (fingerprint, reference, boot_id, "
		    "boottime_ms) VALUES (?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(v->fingerprint));
	query_bind_text(&q, text_of(v->reference));
	query_bind_text(&q, text_of(v->boot_id));
	query_bind_int(&q, v->boottime_ms);
	return query_run(&q, err);
}

/* A replaced row has a new number, so the least ones are the oldest, whatever boot they are of. */
static int prune(struct store *s, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "DELETE FROM verified WHERE number <= (SELECT number FROM verified ORDER BY "
		    "number DESC LIMIT 1 OFFSET ?)",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, VERIFIED_ROWS_MAX);
	return query_run(&q, err);
}

int verified_add(struct store *s, const struct verified *v, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin(s, &t, err) < 0 || insert(s, v, err) < 0 || prune(s, err) < 0)
		return -1;
	return query_commit(&t, err);
}
