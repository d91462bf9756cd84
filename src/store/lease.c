#include "store/lease.h"

#include "base/enum-text.h"
#include "store/query.h"

static const char *const state_names[] = {
	[STORE_LEASE_OPEN] = "open",
	[STORE_LEASE_RELEASED] = "released",
	[STORE_LEASE_EXPIRED] = "expired",
};
ENUM_TEXT(store_lease_state, state_names, STORE_LEASE_STATE_COUNT)

#define SELECT \
	"SELECT id, run, project, executor, boot_id, opened_at, expires_at, hard_end, " \
	"boottime_ms, state FROM lease "

static void read_row(const struct query *q, struct store_lease *ret)
{
	struct text *const texts[] = {
		&ret->id, &ret->run, &ret->project, &ret->executor, &ret->boot_id};
	int64_t *const numbers[] = {
		&ret->opened_at, &ret->expires_at, &ret->hard_end, &ret->boottime_ms};
	int column = query_texts(q, 0, texts, ARRAY_SIZE(texts));

	column = query_ints(q, column, numbers, ARRAY_SIZE(numbers));
	/* The table refuses what is no state. */
	int state = store_lease_state_from_text(query_text(q, column));
	ret->state = state < 0 ? STORE_LEASE_OPEN : (enum store_lease_state)state;
}

int store_lease_add(struct store *s, const struct store_lease *l, struct error *err)
{
	const struct text texts[] = {l->id, l->run, l->project, l->executor, l->boot_id};
	const int64_t numbers[] = {l->opened_at, l->expires_at, l->hard_end, l->boottime_ms};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT INTO lease (id, run, project, executor, boot_id, opened_at, "
		    "expires_at, hard_end, boottime_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		query_bind_text(&q, texts[i]);
	query_bind_ints(&q, numbers, ARRAY_SIZE(numbers));
	return query_run(&q, err);
}

int store_lease_add_holding(struct store *s, const struct store_holding *h, struct error *err)
{
	const struct text texts[] = {h->lease, h->grant, h->kind, h->files, h->env_keys};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT INTO lease_grant (lease, grant_id, kind, files, env_keys) "
		    "VALUES (?, ?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		query_bind_text(&q, texts[i]);
	return query_run(&q, err);
}

/* Rows that were shown, or -1. */
static int show_rows(struct query *q, void (*row)(void *data, const struct store_lease *l),
	void *data, struct error *err)
{
	struct store_lease one;
	int r, n = 0;

	for (; (r = query_step(q, err)) > 0; n++) {
		read_row(q, &one);
		row(data, &one);
	}
	return r < 0 ? -1 : n;
}

static int show_one(struct query *q, const char *key,
	void (*row)(void *data, const struct store_lease *l), void *data, struct error *err)
{
	query_bind_text(q, text_of(key));
	int n = show_rows(q, row, data, err);
	return n < 0 ? -1 : n == 0;
}

int store_lease_show(struct store *s, const char *id,
	void (*row)(void *data, const struct store_lease *l), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, SELECT "WHERE id = ?", &q, err) < 0)
		return -1;
	return show_one(&q, id, row, data, err);
}

int store_lease_show_run(struct store *s, const char *run,
	void (*row)(void *data, const struct store_lease *l), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, SELECT "WHERE run = ?", &q, err) < 0)
		return -1;
	return show_one(&q, run, row, data, err);
}

int store_lease_list_open(struct store *s, int64_t until,
	void (*row)(void *data, const struct store_lease *l), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, SELECT "WHERE state = 'open' AND expires_at < ? ORDER BY number", &q,
		    err) < 0)
		return -1;
	query_bind_int(&q, until > 0 ? until : INT64_MAX);
	return show_rows(&q, row, data, err) < 0 ? -1 : 0;
}

int store_lease_holdings(struct store *s, const char *lease,
	void (*row)(void *data, const struct store_holding *h), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	int r;

	if (query_prepare(s,
		    "SELECT lease, grant_id, kind, files, env_keys, taken_back FROM lease_grant "
		    "WHERE lease = ? ORDER BY number",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(lease));
	while ((r = query_step(&q, err)) > 0) {
		struct store_holding one = {
			.lease = query_text(&q, 0),
			.grant = query_text(&q, 1),
			.kind = query_text(&q, 2),
			.files = query_text(&q, 3),
			.env_keys = query_text(&q, 4),
			.taken_back = query_int(&q, 5) != 0,
		};
		row(data, &one);
	}
	return r;
}

int store_lease_extend(
	struct store *s, const char *lease, int64_t expires_at, int64_t hard_end, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE lease SET expires_at = max(expires_at, ?), hard_end = ? "
		    "WHERE id = ? AND state = 'open'",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, expires_at);
	query_bind_int(&q, hard_end);
	query_bind_text(&q, text_of(lease));
	return query_run(&q, err);
}

static int prune(struct store *s, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "DELETE FROM lease WHERE state <> 'open' AND number <= (SELECT number FROM "
		    "lease WHERE state <> 'open' ORDER BY number DESC LIMIT 1 OFFSET ?)",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, STORE_LEASES_KEPT);
	return query_run(&q, err);
}

int store_lease_end(
	struct store *s, const char *lease, enum store_lease_state state, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(
		    s, "UPDATE lease SET state = ? WHERE id = ? AND state = 'open'", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(store_lease_state_text(state)));
	query_bind_text(&q, text_of(lease));
	if (query_run(&q, err) < 0)
		return -1;
	if (query_changes(s) == 0)
		return 1;
	return prune(s, err);
}

int store_lease_take_back(struct store *s, const char *lease, const char *grant, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE lease_grant SET taken_back = 1 WHERE lease = ? AND ? IN ('', grant_id)",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(lease));
	query_bind_text(&q, text_of(grant));
	return query_run(&q, err);
}
