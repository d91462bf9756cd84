#include "store/egress-grant.h"

#include "store/query.h"

#define SELECT \
	"SELECT id, subject, scope, policy, created_by, boot_id, created_at, expires_at, " \
	"coalesce(revoked_at, 0), boottime_ms, " \
	"(SELECT state FROM revocation WHERE grant_id = egress_grant.id AND lease = '' " \
	"ORDER BY number DESC LIMIT 1) FROM egress_grant "

static void read_row(const struct query *q, struct store_egress_grant *ret)
{
	struct text *const texts[] = {&ret->id, &ret->subject, &ret->scope, &ret->policy,
		&ret->created_by, &ret->boot_id};
	int64_t *const numbers[] = {
		&ret->created_at, &ret->expires_at, &ret->revoked_at, &ret->boottime_ms};
	int column = query_texts(q, 0, texts, ARRAY_SIZE(texts));

	column = query_ints(q, column, numbers, ARRAY_SIZE(numbers));
	ret->state = query_text(q, column);
}

int store_egress_grant_add(struct store *s, const struct store_egress_grant *g, struct error *err)
{
	const struct text texts[] = {
		g->id, g->subject, g->scope, g->policy, g->created_by, g->boot_id};
	const int64_t numbers[] = {g->created_at, g->expires_at, g->boottime_ms};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT INTO egress_grant (id, subject, scope, policy, created_by, boot_id, "
		    "created_at, expires_at, boottime_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	query_bind_texts(&q, texts, ARRAY_SIZE(texts));
	query_bind_ints(&q, numbers, ARRAY_SIZE(numbers));
	return query_run(&q, err);
}

/* Rows that were shown, or -1. */
static int show_rows(struct query *q, void (*row)(void *data, const struct store_egress_grant *g),
	void *data, struct error *err)
{
	struct store_egress_grant one;
	int r, n = 0;

	for (; (r = query_step(q, err)) > 0; n++) {
		read_row(q, &one);
		row(data, &one);
	}
	return r < 0 ? -1 : n;
}

int store_egress_grant_show(struct store *s, const char *id,
	void (*row)(void *data, const struct store_egress_grant *g), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, SELECT "WHERE id = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(id));
	int n = show_rows(&q, row, data, err);
	return n < 0 ? -1 : n == 0;
}

int store_egress_grant_list(struct store *s, int64_t since,
	void (*row)(void *data, const struct store_egress_grant *g), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    SELECT "WHERE expires_at > ? AND (revoked_at IS NULL OR revoked_at > ?) "
			   "ORDER BY number DESC",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, since);
	query_bind_int(&q, since);
	return show_rows(&q, row, data, err) < 0 ? -1 : 0;
}

int store_egress_grant_revoke(struct store *s, const char *id, int64_t now, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE egress_grant SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, now);
	query_bind_text(&q, text_of(id));
	return query_run(&q, err);
}
