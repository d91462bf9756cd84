#include "store/project.h"

#include "base/enum-text.h"
#include "store/query.h"
#include "sys/clock.h"

static const char *const provider_names[] = {
	[STORE_PROVIDER_NONE] = "none",
	[STORE_PROVIDER_CLAUDECODE] = "claudecode",
	[STORE_PROVIDER_COPILOT] = "copilot",
};
ENUM_TEXT(store_provider, provider_names, STORE_PROVIDER_COUNT)

#define COLUMNS "SELECT path, provider, executor, first_seen FROM project "

static void read_row(const struct query *q, struct store_project *ret)
{
	/* The table refuses what is no provider. */
	int provider = store_provider_from_text(query_text(q, 1));

	*ret = (struct store_project){
		.path = query_text(q, 0),
		.provider = provider < 0 ? STORE_PROVIDER_NONE : (enum store_provider)provider,
		.executor = query_text(q, 2),
		.first_seen = query_text(q, 3),
	};
}

int store_project_show(struct store *s, const char *path,
	void (*row)(void *data, const struct store_project *p), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	struct store_project p;

	if (query_prepare(s, COLUMNS "WHERE path = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(path));
	int r = query_step(&q, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	read_row(&q, &p);
	row(data, &p);
	return 0;
}

int store_project_list(struct store *s, void (*row)(void *data, const struct store_project *p),
	void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	struct store_project p;
	int r;

	if (query_prepare(s, COLUMNS "ORDER BY path", &q, err) < 0)
		return -1;
	while ((r = query_step(&q, err)) > 0) {
		read_row(&q, &p);
		row(data, &p);
	}
	return r;
}

/* Statements of (path, provider, now). */
static int put(struct store *s, const char *sql, const char *path, enum store_provider provider,
	struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_realtime_ns(), now);
	if (query_prepare(s, sql, &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(path));
	query_bind_text(&q, text_of(store_provider_text(provider)));
	query_bind_text(&q, text_of(now));
	return query_run(&q, err);
}

#define INSERT "INSERT INTO project (path, provider, first_seen) VALUES (?, ?, ?) "

int store_project_note(struct store *s, const char *path, struct error *err)
{
	return put(s, INSERT "ON CONFLICT DO NOTHING", path, STORE_PROVIDER_NONE, err);
}

int store_project_set_provider(
	struct store *s, const char *path, enum store_provider provider, struct error *err)
{
	return put(s, INSERT "ON CONFLICT DO UPDATE SET provider = excluded.provider", path,
		provider, err);
}

#define SET_EXECUTOR "UPDATE project SET executor = ? WHERE path = ?"

int store_project_bind(struct store *s, const char *path, const char *executor, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (store_project_note(s, path, err) < 0 || query_prepare(s, SET_EXECUTOR, &q, err) < 0)
		return -1;
	query_bind_text(&q, executor ? text_of(executor) : (struct text){0});
	query_bind_text(&q, text_of(path));
	return query_run(&q, err);
}

static int drop(struct store *s, const char *sql, const char *path, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, sql, &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(path));
	return query_run(&q, err);
}

int store_project_forget(struct store *s, const char *path, struct error *err)
{
	static const char *const rows[] = {
		"DELETE FROM task WHERE project = ?",
		"DELETE FROM run WHERE project = ?",
		"DELETE FROM journal WHERE project = ?",
		"DELETE FROM ceiling WHERE source = 'project' AND subject = ?",
		"DELETE FROM project WHERE path = ?",
	};
	int64_t dropped = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (drop(s, rows[i], path, err) < 0)
			return -1;
		dropped += query_changes(s);
	}
	return dropped > 0 ? 0 : 1;
}
