#include "store/run.h"

#include <stddef.h>

#include "store/query.h"

enum { SHORTEN_EVERY = 64, NONE = -1 };

#define TEXT_COLUMNS \
	"handle, project, title, executor_id, executor_kind, isolation, state, outcome, error, " \
	"code, image_requested, image, image_digest, sandbox_sha256, setup_sha256, started_at, " \
	"finished_at"
#define NUMBER_COLUMNS "exit_code, signal, cli_exit, wall_ms, disk_used_mb, disk_limit_mb"
#define COLUMNS TEXT_COLUMNS ", " NUMBER_COLUMNS ", task, reproducible"

/* In the order of the columns. */
static const size_t texts[] = {
	offsetof(struct store_run, handle),
	offsetof(struct store_run, project),
	offsetof(struct store_run, title),
	offsetof(struct store_run, executor_id),
	offsetof(struct store_run, executor_kind),
	offsetof(struct store_run, isolation),
	offsetof(struct store_run, state),
	offsetof(struct store_run, outcome),
	offsetof(struct store_run, error),
	offsetof(struct store_run, code),
	offsetof(struct store_run, image_requested),
	offsetof(struct store_run, image),
	offsetof(struct store_run, image_digest),
	offsetof(struct store_run, sandbox_sha256),
	offsetof(struct store_run, setup_sha256),
	offsetof(struct store_run, started_at),
	offsetof(struct store_run, finished_at),
};
static const size_t numbers[] = {
	offsetof(struct store_run, exit_code),
	offsetof(struct store_run, signal),
	offsetof(struct store_run, cli_exit),
	offsetof(struct store_run, wall_ms),
	offsetof(struct store_run, disk_used_mb),
	offsetof(struct store_run, disk_limit_mb),
};

static int insert(struct store *s, const struct store_run *run, int64_t *ret, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	const char *base = (const char *)run;

	if (query_prepare(s,
		    "INSERT INTO run (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING number",
		    &q, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		query_bind_text(&q, *(const struct text *)(base + texts[i]));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		query_bind_int_or_null(&q, *(const int64_t *)(base + numbers[i]), NONE);
	query_bind_int_or_null(&q, run->task, 0);
	query_bind_int(&q, run->reproducible);
	int r = query_step(&q, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	*ret = query_int(&q, 0);
	return query_run(&q, err);
}

int store_run_add(struct store *s, const struct store_run *run, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	int64_t number = 0;

	int r = insert(s, run, &number, err);
	if (r != 0 || number % SHORTEN_EVERY != 0)
		return r;
	if (query_prepare(s, "DELETE FROM run WHERE number <= ?", &q, err) < 0)
		return -1;
	query_bind_int(&q, number - STORE_RUN_ROWS);
	return query_run(&q, err);
}

int store_run_show(struct store *s, const char *handle,
	void (*row)(void *data, const struct store_run *r), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	struct store_run run = {.task = 0};
	char *base = (char *)&run;
	int column = 0;

	if (query_prepare(s, "SELECT " COLUMNS " FROM run WHERE handle = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(handle));
	int r = query_step(&q, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*(struct text *)(base + texts[i]) = query_text(&q, column++);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		*(int64_t *)(base + numbers[i]) = query_int_or(&q, column++, NONE);
	run.task = query_int(&q, column++);
	run.reproducible = query_int(&q, column) != 0;
	row(data, &run);
	return 0;
}
