#include "store/secret.h"

#include "base/mem.h"
#include "store/query.h"
#include "sys/clock.h"

#define COLUMNS \
	"SELECT id, name, kind, owner, env, format, file_name, file_mode, created_at, created_by " \
	"FROM secret "

void store_secret_done(struct store_secret *row)
{
	char *const texts[] = {row->id, row->name, row->kind, row->owner, row->env, row->format,
		row->file_name, row->created_at, row->created_by};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	*row = STORE_SECRET_INIT;
}

void store_secret_sealed_done(struct store_secret_sealed *sealed)
{
	free(sealed->kek);
	sealed->kek = NULL;
	str_done(&sealed->dek);
	str_done(&sealed->payload);
}

/* NULL for NULL. */
static char *copy(const struct query *q, int column)
{
	struct text t = query_text(q, column);

	return t.p ? mem_strndup(t.p, t.len) : NULL;
}

static void read_row(const struct query *q, struct store_secret *ret)
{
	*ret = (struct store_secret){
		.id = copy(q, 0),
		.name = copy(q, 1),
		.kind = copy(q, 2),
		.owner = copy(q, 3),
		.env = copy(q, 4),
		.format = copy(q, 5),
		.file_name = copy(q, 6),
		.mode = query_int(q, 7),
		.created_at = copy(q, 8),
		.created_by = copy(q, 9),
	};
}

/* `sql` has one parameter: 0, or 1 = no row. */
static int find(struct store *s, const char *sql, const char *key, struct store_secret *ret,
	struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, sql, &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(key));
	int r = query_step(&q, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	read_row(&q, ret);
	return 0;
}

int store_secret_find(
	struct store *s, const char *name, struct store_secret *ret, struct error *err)
{
	return find(s, COLUMNS "WHERE name = ?", name, ret, err);
}

int store_secret_find_id(
	struct store *s, const char *id, struct store_secret *ret, struct error *err)
{
	return find(s, COLUMNS "WHERE id = ?", id, ret, err);
}

int store_secret_find_sealed(
	struct store *s, const char *id, struct store_secret_sealed *ret, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, "SELECT kek, dek, payload FROM secret WHERE id = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(id));
	int r = query_step(&q, err);
	if (r <= 0)
		return r < 0 ? -1 : 1;
	struct text dek = query_blob(&q, 1), payload = query_blob(&q, 2);
	if (dek.len > STORE_SECRET_DEK_MAX || payload.len > STORE_SECRET_PAYLOAD_MAX)
		return error_set(err, ERROR_SECRET_STORE, "the row of %s in %s is too large",
			quoted_string(id), quoted_string(store_path(s)));
	mem_set_string(&ret->kek, NULL);
	ret->kek = copy(&q, 0);
	str_reset(&ret->dek);
	str_add(&ret->dek, dek.p, dek.len);
	str_reset(&ret->payload);
	str_add(&ret->payload, payload.p, payload.len);
	return 0;
}

int store_secret_list(struct store *s, void (*row)(void *data, const struct store_secret *r),
	void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	int r;

	if (query_prepare(s, COLUMNS "ORDER BY name", &q, err) < 0)
		return -1;
	while ((r = query_step(&q, err)) > 0) {
		AUTO(store_secret) one = STORE_SECRET_INIT;
		read_row(&q, &one);
		row(data, &one);
	}
	return r;
}

int store_secret_insert(struct store *s, const struct store_secret *row,
	const struct store_secret_sealed *sealed, struct error *err)
{
	const char *const texts[] = {
		row->id, row->name, row->kind, row->owner, row->env, row->format, row->file_name};
	AUTO(query) q = QUERY_INIT;
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_realtime_ns(), now);
	if (query_prepare(s,
		    "INSERT INTO secret (id, name, kind, owner, env, format, file_name, file_mode, "
		    "created_at, created_by, kek, dek, payload) "
		    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING",
		    &q, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		query_bind_text(&q, text_of(texts[i]));
	query_bind_int(&q, row->mode);
	query_bind_text(&q, text_of(now));
	query_bind_text(&q, text_of(row->created_by));
	query_bind_text(&q, text_of(sealed->kek));
	query_bind_blob(&q, (struct text){sealed->dek.data, sealed->dek.len});
	query_bind_blob(&q, (struct text){sealed->payload.data, sealed->payload.len});
	if (query_run(&q, err) < 0)
		return -1;
	return query_changes(s) > 0 ? 0 : 1;
}

int store_secret_set_dek(
	struct store *s, const char *id, const char *kek, struct text dek, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, "UPDATE secret SET kek = ?, dek = ? WHERE id = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(kek));
	query_bind_blob(&q, dek);
	query_bind_text(&q, text_of(id));
	return query_run(&q, err);
}

int store_secret_delete(struct store *s, const char *id, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, "DELETE FROM secret WHERE id = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(id));
	if (query_run(&q, err) < 0)
		return -1;
	return query_changes(s) > 0 ? 0 : 1;
}
