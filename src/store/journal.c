#include "store/journal.h"

#include "store/query.h"
#include "sys/clock.h"

/* Rows are counted at every so many only: the bound is one for the size of the file. */
enum { SHORTEN_EVERY = 64 };

static int shorten(struct store *s, const char *project, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "DELETE FROM journal WHERE project = ?1 AND number <= (SELECT number FROM "
		    "journal WHERE project = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(project));
	query_bind_int(&q, STORE_JOURNAL_ROWS);
	return query_run(&q, err);
}

static int insert(struct store *s, const struct store_event *e, struct text message,
	int64_t *ret_number, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	char now[CLOCK_TEXT_SIZE];

	clock_format(e->at_ns ? e->at_ns : clock_realtime_ns(), now);
	if (query_prepare(s,
		    "INSERT INTO journal (project, time, kind, run, task, message) "
		    "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ?4 IS NULL OR NOT EXISTS (SELECT 1 FROM "
		    "journal WHERE run = ?4 AND kind = ?3 AND message = ?6 AND (?7 IS NULL OR "
		    "time = ?2)) RETURNING number",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(e->project));
	query_bind_text(&q, text_of(now));
	query_bind_text(&q, text_of(e->kind));
	query_bind_text(&q, text_of(e->run));
	query_bind_int_or_null(&q, e->task, 0);
	query_bind_text(&q, message);
	query_bind_int_or_null(&q, e->at_ns, 0);
	int r = query_step(&q, err);
	*ret_number = r > 0 ? query_int(&q, 0) : 0;
	return r > 0 ? query_run(&q, err) : r;
}

int store_journal_add(struct store *s, const struct store_event *event, struct error *err)
{
	AUTO(str) message = STR_INIT(4 * STORE_JOURNAL_MESSAGE_MAX);
	int64_t number = 0;

	text_escape(&message, text_of(event->message), STORE_JOURNAL_MESSAGE_MAX);
	if (insert(s, event, (struct text){str_text(&message), message.len}, &number, err) < 0)
		return -1;
	return number % SHORTEN_EVERY == 0 && number > 0 ? shorten(s, event->project, err) : 0;
}

int store_journal_list(struct store *s, const char *project, int64_t limit,
	void (*row)(void *data, const struct store_journal_row *r), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	int r;

	if (query_prepare(s,
		    "SELECT number, time, kind, run, task, message FROM (SELECT * FROM journal "
		    "WHERE project = ? ORDER BY number DESC LIMIT ?) ORDER BY number",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(project));
	query_bind_int(&q, limit > 0 ? limit : -1);
	while ((r = query_step(&q, err)) > 0) {
		const struct store_journal_row one = {
			.seq = query_int(&q, 0),
			.time = query_text(&q, 1),
			.kind = query_text(&q, 2),
			.run = query_text(&q, 3),
			.task = query_int(&q, 4),
			.message = query_text(&q, 5),
		};
		row(data, &one);
	}
	return r;
}
