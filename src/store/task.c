#include "store/task.h"

#include "base/enum-text.h"
#include "store/query.h"
#include "sys/clock.h"

static const char *const state_names[] = {
	[STORE_TASK_PENDING] = "pending",
	[STORE_TASK_RUNNING] = "running",
	[STORE_TASK_DONE] = "done",
	[STORE_TASK_FAILED] = "failed",
};
ENUM_TEXT(store_task_state, state_names, STORE_TASK_STATE_COUNT)

#define SELECT \
	"SELECT id, project, title, argv, state, note, run, claim, created_at, started_at, " \
	"finished_at FROM task "

static void bind_now(struct query *q)
{
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_realtime_ns(), now);
	query_bind_text(q, text_of(now));
}

static void read_row(const struct query *q, struct store_task *ret)
{
	/* The table refuses what is no state. */
	int state = store_task_state_from_text(query_text(q, 4));

	*ret = (struct store_task){
		.id = query_int(q, 0),
		.project = query_text(q, 1),
		.title = query_text(q, 2),
		.argv = query_text(q, 3),
		.state = state < 0 ? STORE_TASK_FAILED : (enum store_task_state)state,
		.note = query_text(q, 5),
		.run = query_text(q, 6),
		.claim = query_text(q, 7),
		.created_at = query_text(q, 8),
		.started_at = query_text(q, 9),
		.finished_at = query_text(q, 10),
	};
}

static int show_rows(struct query *q, store_task_row *row, void *data, struct error *err)
{
	struct store_task t;
	int r;

	while ((r = query_step(q, err)) > 0) {
		read_row(q, &t);
		row(data, &t);
	}
	return r;
}

/* A statement with RETURNING of one number: 0 and it, or 1 = it met no row. */
static int one_number(struct query *q, int64_t *ret, struct error *err)
{
	int r = query_step(q, err);

	if (r <= 0)
		return r < 0 ? -1 : 1;
	*ret = query_int(q, 0);
	return query_run(q, err);
}

int store_task_add(
	struct store *s, const struct store_task_new *task, int64_t *ret_id, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "INSERT INTO task (project, title, argv, created_at) VALUES (?, ?, ?, ?) "
		    "RETURNING id",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(task->project));
	query_bind_text(&q, text_of(task->title));
	query_bind_text(&q, text_of(task->argv));
	bind_now(&q);
	return one_number(&q, ret_id, err);
}

int store_task_show(struct store *s, const char *project, int64_t id, store_task_row *row,
	void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	struct store_task t;

	if (query_prepare(s, SELECT "WHERE project = ? AND id = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(project));
	query_bind_int(&q, id);
	int r = query_step(&q, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	read_row(&q, &t);
	row(data, &t);
	return 0;
}

int store_task_list(
	struct store *s, const char *project, store_task_row *row, void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, SELECT "WHERE project = ? ORDER BY id", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(project));
	return show_rows(&q, row, data, err);
}

int store_task_running(struct store *s, store_task_row *row, void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, SELECT "WHERE state = 'running' ORDER BY id", &q, err) < 0)
		return -1;
	return show_rows(&q, row, data, err);
}

int store_task_claim(struct store *s, const char *project, int64_t id, const char *claim,
	int64_t *ret_id, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE task SET state = 'running', claim = ?1, started_at = ?2, "
		    "finished_at = NULL, note = NULL, run = NULL WHERE id = (SELECT min(id) FROM "
		    "task WHERE project = ?3 AND state = 'pending' AND (?4 = 0 OR id = ?4)) "
		    "RETURNING id",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(claim));
	bind_now(&q);
	query_bind_text(&q, text_of(project));
	query_bind_int(&q, id);
	return one_number(&q, ret_id, err);
}

static int changed_one(struct store *s, struct query *q, struct error *err)
{
	if (query_run(q, err) < 0)
		return -1;
	return query_changes(s) > 0 ? 0 : 1;
}

int store_task_link(struct store *s, const char *claim, const char *run, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE task SET run = ? WHERE claim = ? AND state = 'running' AND run IS NULL",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(run));
	query_bind_text(&q, text_of(claim));
	return changed_one(s, &q, err);
}

int store_task_end(struct store *s, const struct store_task_end *end, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE task SET state = ?1, note = ?2, claim = NULL, run = ?3, "
		    "finished_at = ?4 WHERE id = ?5 AND state = 'running' AND "
		    "(run IS ?3 OR (run IS NULL AND claim = ?6)) AND "
		    "(?3 IS NOT NULL OR claim = ?6)",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(store_task_state_text(end->state)));
	query_bind_text(&q, text_of(end->note));
	query_bind_text(&q, text_of(end->run));
	bind_now(&q);
	query_bind_int(&q, end->id);
	query_bind_text(&q, text_of(end->claim));
	return changed_one(s, &q, err);
}

int store_task_reset(struct store *s, const char *project, int64_t id, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "UPDATE task SET state = 'pending', note = NULL, started_at = NULL, "
		    "finished_at = NULL WHERE project = ? AND id = ? AND "
		    "state IN ('done', 'failed')",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(project));
	query_bind_int(&q, id);
	return changed_one(s, &q, err);
}
