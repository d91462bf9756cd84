#include "store/revocation.h"

#include "store/query.h"

#define SELECT \
	"SELECT number, lease, grant_id, action, reason, actor, asked_at, state, known " \
	"FROM revocation "

static void read_row(const struct query *q, struct store_revocation *ret)
{
	*ret = (struct store_revocation){
		.number = query_int(q, 0),
		.lease = query_text(q, 1),
		.grant = query_text(q, 2),
		.action = query_text(q, 3),
		.reason = query_text(q, 4),
		.actor = query_text(q, 5),
		.asked_at = query_int(q, 6),
		.state = query_text(q, 7),
		.known = query_int(q, 8) != 0,
	};
}

static int add_holders(
	struct store *s, int64_t number, const struct store_revocation *r, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT INTO revocation_run (revocation, lease, run, result, effect, message) "
		    "SELECT ?1, id, run, 'pending', '', '' FROM lease "
		    "WHERE state = 'open' AND ?2 IN ('', id) AND EXISTS (SELECT 1 FROM lease_grant "
		    "WHERE lease_grant.lease = lease.id AND ?3 IN ('', grant_id)) ORDER BY number",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, number);
	query_bind_text(&q, r->lease);
	query_bind_text(&q, r->grant);
	return query_run(&q, err);
}

int store_revocation_add(
	struct store *s, const struct store_revocation *r, int64_t *ret_number, struct error *err)
{
	const struct text texts[] = {r->lease, r->grant, r->action, r->reason, r->actor};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT INTO revocation (lease, grant_id, action, reason, actor, asked_at) "
		    "VALUES (?, ?, ?, ?, ?, ?) RETURNING number",
		    &q, err) < 0)
		return -1;
	query_bind_texts(&q, texts, ARRAY_SIZE(texts));
	query_bind_int(&q, r->asked_at);
	if (query_step(&q, err) < 0)
		return -1;
	int64_t number = query_int(&q, 0);
	if (query_run(&q, err) < 0 || add_holders(s, number, r, err) < 0)
		return -1;
	*ret_number = number;
	return 0;
}

int store_revocation_add_run(
	struct store *s, const struct store_revocation_run *r, struct error *err)
{
	const struct text texts[] = {r->lease, r->run, r->result};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT OR IGNORE INTO revocation_run (revocation, lease, run, result) "
		    "VALUES (?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, r->revocation);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		query_bind_text(&q, texts[i]);
	return query_run(&q, err);
}

int store_revocation_of_grant(
	struct store *s, const char *grant, int64_t *ret_number, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "SELECT number FROM revocation WHERE grant_id = ? AND lease = '' "
		    "ORDER BY number DESC LIMIT 1",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(grant));
	int r = query_step(&q, err);
	if (r > 0)
		*ret_number = query_int(&q, 0);
	return r < 0 ? -1 : r == 0;
}

/* Rows that were shown, or -1. */
static int show_rows(struct query *q, void (*row)(void *data, const struct store_revocation *r),
	void *data, struct error *err)
{
	struct store_revocation one;
	int r, n = 0;

	for (; (r = query_step(q, err)) > 0; n++) {
		read_row(q, &one);
		row(data, &one);
	}
	return r < 0 ? -1 : n;
}

int store_revocation_show(struct store *s, int64_t number,
	void (*row)(void *data, const struct store_revocation *r), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, SELECT "WHERE number = ?", &q, err) < 0)
		return -1;
	query_bind_int(&q, number);
	int n = show_rows(&q, row, data, err);
	return n < 0 ? -1 : n == 0;
}

int store_revocation_list_due(struct store *s,
	void (*row)(void *data, const struct store_revocation *r), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    SELECT "WHERE state IN ('revoke_pending', 'unreachable') ORDER BY number", &q,
		    err) < 0)
		return -1;
	return show_rows(&q, row, data, err) < 0 ? -1 : 0;
}

int store_revocation_runs(struct store *s, int64_t number,
	void (*row)(void *data, const struct store_revocation_run *r), void *data,
	struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	int r;

	if (query_prepare(s,
		    "SELECT revocation, lease, run, result, effect, message FROM revocation_run "
		    "WHERE revocation = ? ORDER BY number",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, number);
	while ((r = query_step(&q, err)) > 0) {
		struct store_revocation_run one = {
			.revocation = query_int(&q, 0),
			.lease = query_text(&q, 1),
			.run = query_text(&q, 2),
			.result = query_text(&q, 3),
			.effect = query_text(&q, 4),
			.message = query_text(&q, 5),
		};
		row(data, &one);
	}
	return r;
}

int store_revocation_set_run(
	struct store *s, const struct store_revocation_run *r, struct error *err)
{
	const struct text texts[] = {r->result, r->effect, r->message};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE revocation_run SET result = ?, effect = ?, message = ? "
		    "WHERE revocation = ? AND run = ? AND result != 'done'",
		    &q, err) < 0)
		return -1;
	query_bind_texts(&q, texts, ARRAY_SIZE(texts));
	query_bind_int(&q, r->revocation);
	query_bind_text(&q, r->run);
	return query_run(&q, err) < 0 ? -1 : query_changes(s) == 0;
}

int store_revocation_set_state(
	struct store *s, int64_t number, const char *state, bool known, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(
		    s, "UPDATE revocation SET state = ?, known = ? WHERE number = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(state));
	query_bind_int(&q, known);
	query_bind_int(&q, number);
	return query_run(&q, err);
}
