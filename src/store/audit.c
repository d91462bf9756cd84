#include "store/audit.h"

#include <string.h>

#include "base/json.h"
#include "store/audit-payload.h"
#include "store/query.h"
#include "store/witness.h"
#include "sys/clock.h"

#define NO_ROW "0000000000000000000000000000000000000000000000000000000000000000"
#define COLUMNS "seq, time, action, entity, actor, payload, previous, hash"

/* The hash of all that a row says: a JSON list, so that no two rows read the same. */
static void hash_row(const struct store_audit_row *r, char out[SHA256_HEX_SIZE])
{
	const struct text texts[] = {
		r->time, r->action, r->entity, r->actor, r->payload, r->previous};
	auto_json *list = json_array();

	json_array_append_new(list, json_integer(r->seq));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_array_append_new(list, json_from_bytes(texts[i]));
	auto_free char *line = json_write(list);
	sha256_hex(text_of(line), out);
}

/* seq and hash of the last row there ever was; of an empty table 0 and NO_ROW. */
static int read_end(
	struct store *s, int64_t *ret_seq, char ret_hash[SHA256_HEX_SIZE], struct error *err)
{
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s,
		    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0), "
		    "(SELECT hash FROM audit ORDER BY seq DESC LIMIT 1)",
		    &q, err) < 0 ||
		query_step(&q, err) < 0)
		return -1;
	struct text hash = query_text(&q, 1);
	*ret_seq = query_int(&q, 0);
	if (hash.len != SHA256_HEX_SIZE - 1)
		hash = TEXT(NO_ROW);
	memcpy(ret_hash, hash.p, hash.len);
	ret_hash[hash.len] = '\0';
	return 0;
}

static int insert(struct store *s, const struct store_audit_row *r, struct error *err)
{
	const struct text texts[] = {
		r->time, r->action, r->entity, r->actor, r->payload, r->previous, r->hash};
	AUTO(query) q = QUERY_INIT;

	if (query_prepare(s, "INSERT INTO audit (" COLUMNS ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)", &q,
		    err) < 0)
		return -1;
	query_bind_int(&q, r->seq);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		query_bind_text(&q, texts[i]);
	return query_run(&q, err);
}

/*
 * The note outside the database is carried on only while the trail agrees with it: otherwise it is
 * what shows that the trail is not the one that was written.
 */
static int note_later(struct store *s, const struct store_audit_row *r, struct error *err)
{
	const struct witness now = witness_read(store_home(s));
	AUTO(query) q = QUERY_INIT;
	struct witness next = {.seq = r->seq};

	if (query_prepare(s, "SELECT hash FROM audit WHERE seq = ?", &q, err) < 0)
		return -1;
	query_bind_int(&q, now.seq);
	int found = now.seq > 0 ? query_step(&q, err) : 0;
	if (found < 0)
		return -1;
	if (now.seq > 0 && (found == 0 || !text_is(query_text(&q, 0), now.hash)))
		return 0;
	memcpy(next.hash, r->hash.p, r->hash.len);
	store_witness_later(s, &next);
	return 0;
}

int store_audit_add(struct store *s, const struct store_audit_event *event, struct error *err)
{
	auto_free char *payload = audit_payload_write(event->payload);
	char previous[SHA256_HEX_SIZE], hash[SHA256_HEX_SIZE], now[CLOCK_TEXT_SIZE];
	int64_t last;

	if (read_end(s, &last, previous, err) < 0)
		return -1;
	clock_format(clock_realtime_ns(), now);
	struct store_audit_row row = {
		.seq = last + 1,
		.time = text_of(now),
		.action = text_of(event->action),
		.entity = text_of(event->entity),
		.actor = text_of(event->actor),
		.payload = text_of(payload),
		.previous = text_of(previous),
	};
	hash_row(&row, hash);
	row.hash = text_of(hash);
	return insert(s, &row, err) < 0 ? -1 : note_later(s, &row, err);
}

int store_audit_append(struct store *s, const struct store_audit_event *event, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;

	if (query_begin(s, &t, err) < 0 || store_audit_add(s, event, err) < 0)
		return -1;
	return query_commit(&t, err);
}

static void read_row(const struct query *q, struct store_audit_row *ret)
{
	struct text *const texts[] = {&ret->time, &ret->action, &ret->entity, &ret->actor,
		&ret->payload, &ret->previous, &ret->hash};

	ret->seq = query_int(q, 0);
	query_texts(q, 1, texts, ARRAY_SIZE(texts));
}

int store_audit_list(struct store *s, int64_t limit,
	void (*row)(void *data, const struct store_audit_row *r), void *data, struct error *err)
{
	AUTO(query) q = QUERY_INIT;
	struct store_audit_row one;
	int r;

	if (query_prepare(s,
		    "SELECT " COLUMNS " FROM (SELECT * FROM audit ORDER BY seq DESC LIMIT ?) "
		    "ORDER BY seq",
		    &q, err) < 0)
		return -1;
	query_bind_int(&q, limit > 0 ? limit : -1);
	while ((r = query_step(&q, err)) > 0) {
		read_row(&q, &one);
		row(data, &one);
	}
	return r;
}

static void found(struct store_audit_check *c, int64_t seq, const char *why)
{
	if (c->bad_seq != 0)
		return;
	c->bad_seq = seq;
	c->why = why;
}

struct following {
	struct store_audit_check *check;
	struct witness witness;
};

static void check_row(void *data, const struct store_audit_row *r)
{
	const struct following *f = data;
	struct store_audit_check *c = f->check;
	char hash[SHA256_HEX_SIZE];

	hash_row(r, hash);
	c->rows++;
	if (r->seq != c->rows)
		found(c, c->rows, "a row is missing here");
	else if (!text_is(r->previous, c->last_hash))
		found(c, r->seq, "it does not follow the row before it");
	else if (!text_is(r->hash, hash))
		found(c, r->seq, "it is not as it was written");
	else if (r->seq == f->witness.seq && strcmp(hash, f->witness.hash) != 0)
		found(c, r->seq, "it is not the row that was written");
	memcpy(c->last_hash, hash, sizeof(hash));
}

int store_audit_verify(struct store *s, struct store_audit_check *ret, struct error *err)
{
	AUTO(query_transaction) t = QUERY_TRANSACTION_INIT;
	char ignored[SHA256_HEX_SIZE];
	int64_t last;
	/* First, since it must not be ahead of what is read of the trail. */
	struct following f = {ret, witness_read(store_home(s))};

	*ret = (struct store_audit_check){.last_hash = NO_ROW};
	if (query_begin_read(s, &t, err) < 0 || store_audit_list(s, 0, check_row, &f, err) < 0 ||
		read_end(s, &last, ignored, err) < 0)
		return -1;
	if (last < f.witness.seq)
		last = f.witness.seq;
	if (last != ret->rows)
		found(ret, ret->rows + 1, "rows are missing at the end");
	return query_commit(&t, err);
}
