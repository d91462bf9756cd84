/*
 * Table secret: what was minted (disk-and-secrets.md §12, §13). Payload and data key lie here
 * sealed; opening and sealing is the vault's (vault/vault.h).
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "base/text.h"
#include "store/store.h"

/* A row without what is sealed. Owned. */
struct store_secret {
	char *id;         /* "sec_" + 24 hexadecimal digits */
	char *name;       /* unique */
	char *kind;       /* vault/secret-kind.h */
	char *owner;      /* of a personal secret; NULL: shared */
	char *env;        /* `--env`: its variable; NULL: after the name */
	char *format;     /* "value", "object"; NULL: as the payload reads */
	char *file_name;  /* `--file-name`; NULL: the name */
	int64_t mode;     /* `--mode`; 0: 0600 */
	char *created_at; /* RFC 3339 UTC */
	char *created_by;
};
#define STORE_SECRET_INIT ((struct store_secret){.id = NULL})
void store_secret_done(struct store_secret *row);

/* What is sealed; larger columns than these maxima are read as damaged. */
enum { STORE_SECRET_DEK_MAX = 256, STORE_SECRET_PAYLOAD_MAX = (256 << 10) + 256 };
struct store_secret_sealed {
	char *kek; /* id of the key that sealed the data key */
	struct str dek;
	struct str payload;
};
#define STORE_SECRET_SEALED_INIT \
	((struct store_secret_sealed){ \
		NULL, STR_INIT(STORE_SECRET_DEK_MAX), STR_INIT(STORE_SECRET_PAYLOAD_MAX)})
void store_secret_sealed_done(struct store_secret_sealed *sealed);

/* One row by name or by id: 0, or 1 = there is none. *ret is INIT before. */
must_check int store_secret_find(
	struct store *s, const char *name, struct store_secret *ret, struct error *err);
must_check int store_secret_find_id(
	struct store *s, const char *id, struct store_secret *ret, struct error *err);
/* What is sealed in it: 0, or 1 = there is none. secret_store: a column is too large. */
must_check int store_secret_find_sealed(
	struct store *s, const char *id, struct store_secret_sealed *ret, struct error *err);
/* Calls `row` for each, sorted by name; the row lives as long as the call. */
must_check int store_secret_list(struct store *s,
	void (*row)(void *data, const struct store_secret *r), void *data, struct error *err);

/* A new row; created_at is filled in. 1 = the name is taken. */
must_check int store_secret_insert(struct store *s, const struct store_secret *row,
	const struct store_secret_sealed *sealed, struct error *err);
/* The data key sealed anew. */
must_check int store_secret_set_dek(
	struct store *s, const char *id, const char *kek, struct text dek, struct error *err);
/* 0, or 1 = there is none. */
must_check int store_secret_delete(struct store *s, const char *id, struct error *err);
