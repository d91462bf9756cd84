#include "store/egress-session.h"

#include "store/query.h"

#define SELECT \
	"SELECT id, grant_id, token_sha256, run, project, executor, subject, policy, boot_id, " \
	"reason, opened_at, deadline, boottime_ms, bytes_up, bytes_down, events_read, " \
	"state = 'open' " \
	"FROM egress_session "

static void read_row(const struct query *q, struct store_egress_session *ret)
{
	struct text *const texts[] = {&ret->id, &ret->grant, &ret->token_sha256, &ret->run,
		&ret->project, &ret->executor, &ret->subject, &ret->policy, &ret->boot_id,
		&ret->reason};
	int64_t *const numbers[] = {&ret->opened_at, &ret->deadline, &ret->boottime_ms,
		&ret->bytes_up, &ret->bytes_down, &ret->events_read};
	int column = query_texts(q, 0, texts, ARRAY_SIZE(texts));

	column = query_ints(q, column, numbers, ARRAY_SIZE(numbers));
	ret->open = query_int(q, column) != 0;
}

int store_egress_session_add(
	struct store *s, const struct store_egress_session *e, struct error *err)
{
	const struct text texts[] = {e->id, e->grant, e->token_sha256, e->run, e->project,
		e->executor, e->subject, e->policy, e->boot_id};
	const int64_t numbers[] = {e->opened_at, e->deadline, e->boottime_ms};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT INTO egress_session (id, grant_id, token_sha256, run, project, "
		    "executor, subject, policy, boot_id, opened_at, deadline, boottime_ms) "
		    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	query_bind_texts(&q, texts, ARRAY_SIZE(texts));
	query_bind_ints(&q, numbers, ARRAY_SIZE(numbers));
	return query_run(&q, err);
}

int store_egress_session_show_run(struct store *s, const char *run,
	void (*row)(void *data, const struct store_egress_session *e), void *data,
	struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	struct store_egress_session one;

	if (query_prepare(s, SELECT "WHERE run = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(run));
	int found = query_step(&q, err);
	if (found <= 0)
		return found < 0 ? -1 : 1;
	read_row(&q, &one);
	row(data, &one);
	return 0;
}

int store_egress_session_list_live(struct store *s,
	void (*row)(void *data, const struct store_egress_session *e), void *data,
	struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	struct store_egress_session one;
	int r;

	if (query_prepare(s,
		    SELECT "WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.handle = "
			   "egress_session.run) ORDER BY number",
		    &q, err) < 0)
		return -1;
	while ((r = query_step(&q, err)) > 0) {
		read_row(&q, &one);
		row(data, &one);
	}
	return r;
}

int store_egress_session_list_lost_tests(
	struct store *s, int64_t now, struct strv *ret, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	int found;

	if (query_prepare(s,
		    "SELECT run FROM egress_session WHERE state = 'open' AND run = id AND deadline "
		    "< ?",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, now);
	while ((found = query_step(&q, err)) > 0) {
		struct text run = query_text(&q, 0);
		if (strv_add_n(ret, run.p, run.len) < 0)
			return 0;
	}
	return found;
}

int store_egress_session_renew(struct store *s, const char *id, int64_t deadline, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE egress_session SET deadline = ?1 "
		    "WHERE id = ?2 AND state = 'open' AND deadline < ?1",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, deadline);
	query_bind_text(&q, text_of(id));
	if (query_run(&q, err) < 0)
		return -1;
	return query_changes(s) == 0;
}

int store_egress_session_count(
	struct store *s, const char *id, int64_t bytes_up, int64_t bytes_down, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE egress_session SET bytes_up = max(bytes_up, ?), "
		    "bytes_down = max(bytes_down, ?) WHERE id = ?",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, bytes_up);
	query_bind_int(&q, bytes_down);
	query_bind_text(&q, text_of(id));
	return query_run(&q, err);
}

int store_egress_session_note_events(
	struct store *s, const char *id, int64_t events_read, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, "UPDATE egress_session SET events_read = ? WHERE id = ?", &q, err) < 0)
		return -1;
	query_bind_int(&q, events_read);
	query_bind_text(&q, text_of(id));
	return query_run(&q, err);
}

static int prune(struct store *s, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "DELETE FROM egress_session WHERE state <> 'open' AND number <= (SELECT number "
		    "FROM egress_session WHERE state <> 'open' ORDER BY number DESC "
		    "LIMIT 1 OFFSET ?)",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, STORE_EGRESS_SESSIONS_KEPT);
	return query_run(&q, err);
}

int store_egress_session_close(
	struct store *s, const char *id, const char *reason, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE egress_session SET state = 'closed', reason = ? "
		    "WHERE id = ? AND state = 'open'",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(reason));
	query_bind_text(&q, text_of(id));
	if (query_run(&q, err) < 0)
		return -1;
	if (query_changes(s) == 0)
		return 1;
	return prune(s, err);
}
