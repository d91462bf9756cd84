/*
 * Table audit: what was refused, granted and taken back, in the order it was written. Rows are only
 * appended. Each carries the SHA-256 of itself and of the row before, so that a row that was
 * changed, removed, moved or put in between shows. Numbers are never used again, so rows that are
 * gone from the end show by SQLite's own count, and by a note outside the database
 * (store/witness.h), which also knows an older copy of it. Payloads are scrubbed
 * (store/audit-payload.h).
 *
 * What does not show: a chain that was computed anew from some row on, with the count and the note
 * set to match, by somebody with our rights. For that the trail is exported elsewhere.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/text.h"
#include "store/store.h"

/* What a row says; borrowed. */
struct store_audit_event {
	const char *action; /* sandbox.image_denied */
	const char *entity; /* project */
	const char *actor;  /* system */
	const json_t *payload;
};
/* Appends one row; it is on the disk when this returns. */
must_check int store_audit_append(
	struct store *s, const struct store_audit_event *event, struct error *err);
/*
 * The same inside a transaction that the caller has begun for writing (query_begin) and commits:
 * what was done and the row about it are on the disk together, or neither is.
 */
must_check int store_audit_add(
	struct store *s, const struct store_audit_event *event, struct error *err);

/* A row; texts live as long as the call that shows it. */
struct store_audit_row {
	int64_t seq; /* from 1, without gaps, never used again */
	struct text time, action, entity, actor;
	struct text payload;        /* JSON, as it was hashed */
	struct text previous, hash; /* 64 hexadecimal digits */
};
/* Calls `row` for the last `limit` rows (0 = all), oldest first. */
must_check int store_audit_list(struct store *s, int64_t limit,
	void (*row)(void *data, const struct store_audit_row *r), void *data, struct error *err);

struct store_audit_check {
	int64_t rows;    /* that were looked at */
	int64_t bad_seq; /* 0: the chain is whole */
	const char *why; /* static; of bad_seq */
	char last_hash[SHA256_HEX_SIZE];
};
/*
 * Follows the whole chain as it is at the beginning; rows may be appended meanwhile. A broken one
 * is a finding, not an error.
 */
must_check int store_audit_verify(
	struct store *s, struct store_audit_check *ret, struct error *err);
