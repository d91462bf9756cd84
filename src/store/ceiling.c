#include "store/ceiling.h"

#include "store/query.h"
#include "sys/clock.h"

/* In the order of enum resource. */
#define AMOUNTS "cpu_millis, memory_mb, disk_mb, pids"

/* A number below 0 becomes one that no ceiling may be. */
static void read_amounts(const struct query *q, int column, struct limits *ret)
{
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		resource_set(ret, r, (uint64_t)query_int(q, column + (int)r));
}

int store_ceiling_get(struct store *s, enum ceiling source, const char *subject, struct limits *ret,
	struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	*ret = (struct limits){0};
	if (query_prepare(s, "SELECT " AMOUNTS " FROM ceiling WHERE source = ? AND subject = ?", &q,
		    err) < 0)
		return -1;
	query_bind_text(&q, text_of(ceiling_text(source)));
	query_bind_text(&q, text_of(subject));
	int r = query_step(&q, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	read_amounts(&q, 0, ret);
	return 0;
}

int store_ceiling_put(struct store *s, const struct store_ceiling *row, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_realtime_ns(), now);
	if (query_prepare(s,
		    "INSERT OR REPLACE INTO ceiling (source, subject, set_at, set_by, " AMOUNTS
		    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(ceiling_text(row->source)));
	query_bind_text(&q, row->subject);
	query_bind_text(&q, text_of(now));
	query_bind_text(&q, row->set_by);
	for (enum resource r = 0; r < RESOURCE_COUNT; r++)
		query_bind_int(&q, (int64_t)resource_get(&row->limits, r));
	return query_run(&q, err);
}

int store_ceiling_drop(struct store *s, enum ceiling source, const char *subject, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, "DELETE FROM ceiling WHERE source = ? AND subject = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(ceiling_text(source)));
	query_bind_text(&q, text_of(subject));
	return query_run(&q, err);
}

int store_ceiling_list(struct store *s, void (*row)(void *data, const struct store_ceiling *c),
	void *data, struct error *err)
{
	enum { SOURCE, SUBJECT, SET_AT, SET_BY, FIRST_AMOUNT };
	AUTO(query) q = QUERY_INIT;
	int r;

	if (query_prepare(s,
		    "SELECT source, subject, set_at, set_by, " AMOUNTS
		    " FROM ceiling ORDER BY source, subject",
		    &q, err) < 0)
		return -1;
	while ((r = query_step(&q, err)) > 0) {
		/* The table refuses any other word. */
		int source = ceiling_from_text(query_text(&q, SOURCE));
		struct store_ceiling one = {
			.source = source < 0 ? CEILING_PROJECT : (enum ceiling)source,
			.subject = query_text(&q, SUBJECT),
			.set_at = query_text(&q, SET_AT),
			.set_by = query_text(&q, SET_BY),
		};
		read_amounts(&q, FIRST_AMOUNT, &one.limits);
		row(data, &one);
	}
	return r;
}
