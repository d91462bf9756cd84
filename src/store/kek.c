#include "store/kek.h"

#include "base/enum-text.h"
#include "base/mem.h"
#include "store/query.h"
#include "sys/clock.h"

static const char *const source_names[] = {
	[STORE_KEK_PASSPHRASE] = "passphrase",
	[STORE_KEK_KEY_FILE] = "key_file",
};
ENUM_TEXT(store_kek_source, source_names, STORE_KEK_SOURCE_COUNT)

static const char *const state_names[] = {
	[STORE_KEK_PRIMARY] = "primary",
	[STORE_KEK_ACTIVE] = "active",
	[STORE_KEK_RETIRED] = "retired",
};
ENUM_TEXT(store_kek_state, state_names, STORE_KEK_STATE_COUNT)

/* False: the row is not as cloop writes it. */
static bool read_row(const struct query *q, struct store_kek *ret)
{
	struct text id = query_text(q, 0), salt = query_blob(q, 2), check = query_blob(q, 6);
	int source = store_kek_source_from_text(query_text(q, 1));
	int state = store_kek_state_from_text(query_text(q, 5));
	bool derived = source == STORE_KEK_PASSPHRASE;

	if (id.len != sizeof(ret->id) - 1 || source < 0 || state < 0 ||
		salt.len != (derived ? sizeof(ret->salt) : 0) || check.len == 0 ||
		check.len > sizeof(ret->check))
		return false;
	*ret = (struct store_kek){
		.source = (enum store_kek_source)source,
		.state = (enum store_kek_state)state,
		.opslimit = query_int(q, 3),
		.memlimit = query_int(q, 4),
		.check_len = check.len,
	};
	memcpy(ret->id, id.p, id.len);
	if (derived)
		memcpy(ret->salt, salt.p, salt.len);
	memcpy(ret->check, check.p, check.len);
	return true;
}

int store_kek_list(struct store *s, struct store_kek **ret, size_t *ret_n, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	auto_free struct store_kek *rows = NULL;
	size_t n = 0;
	int r;

	if (query_prepare(s,
		    "SELECT id, source, salt, opslimit, memlimit, state, sealed_check "
		    "FROM kek ORDER BY rowid",
		    &q, err) < 0)
		return -1;
	while ((r = query_step(&q, err)) > 0) {
		rows = mem_grow(rows, n + 1, sizeof(*rows));
		if (n == STORE_KEK_ROWS_MAX || !read_row(&q, &rows[n]))
			return error_set(err, ERROR_SECRET_KEY_STATE,
				"row %zu of the table of keys in %s cannot be read", n + 1,
				quoted_string(store_path(s)));
		n++;
	}
	if (r < 0)
		return -1;
	*ret = TAKE_PTR(rows);
	*ret_n = n;
	return 0;
}

int store_kek_insert(struct store *s, const struct store_kek *kek, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	bool derived = kek->source == STORE_KEK_PASSPHRASE;
	char now[CLOCK_TEXT_SIZE];

	clock_format(clock_realtime_ns(), now);
	if (query_prepare(s,
		    "INSERT INTO kek (id, source, salt, opslimit, memlimit, state, sealed_check, "
		    "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		    &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(kek->id));
	query_bind_text(&q, text_of(store_kek_source_text(kek->source)));
	query_bind_blob(&q, (struct text){derived ? (const char *)kek->salt : NULL,
				    derived ? sizeof(kek->salt) : 0});
	query_bind_int(&q, kek->opslimit);
	query_bind_int(&q, kek->memlimit);
	query_bind_text(&q, text_of(store_kek_state_text(kek->state)));
	query_bind_blob(&q, (struct text){(const char *)kek->check, kek->check_len});
	query_bind_text(&q, text_of(now));
	return query_run(&q, err);
}

int store_kek_set_state(
	struct store *s, const char *id, enum store_kek_state state, struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, "UPDATE kek SET state = ? WHERE id = ?", &q, err) < 0)
		return -1;
	query_bind_text(&q, text_of(store_kek_state_text(state)));
	query_bind_text(&q, text_of(id));
	return query_run(&q, err);
}

int store_kek_retire_unused(struct store *s, struct error *err)
{
	return query_exec(s,
		"UPDATE kek SET state = 'retired' "
		"WHERE state = 'active' AND id NOT IN (SELECT kek FROM secret)",
		err);
}

int store_kek_delete_unused(struct store *s, struct error *err)
{
	return query_exec(s,
		"DELETE FROM kek WHERE state = 'retired' AND id NOT IN (SELECT kek FROM secret)",
		err);
}
