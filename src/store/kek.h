/*
 * Table kek: the keys that seal the data keys of secrets, never themselves: where each comes from
 * and a sealed text that tells the right one (disk-and-secrets.md §13).
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "store/store.h"

enum store_kek_source { STORE_KEK_PASSPHRASE, STORE_KEK_KEY_FILE, STORE_KEK_SOURCE_COUNT };
enum store_kek_state {
	STORE_KEK_PRIMARY,
	STORE_KEK_ACTIVE,
	STORE_KEK_RETIRED,
	STORE_KEK_STATE_COUNT
};
const char *store_kek_source_text(enum store_kek_source source);
int store_kek_source_from_text(struct text t);
const char *store_kek_state_text(enum store_kek_state state);
int store_kek_state_from_text(struct text t);

enum {
	STORE_KEK_ID_SIZE = 29, /* "kek_" + 24 hexadecimal digits + NUL */
	STORE_KEK_SALT_SIZE = 16,
	STORE_KEK_CHECK_MAX = 256, /* bytes of the sealed check */
	STORE_KEK_ROWS_MAX = 64,   /* more are not what cloop leaves */
};

struct store_kek {
	char id[STORE_KEK_ID_SIZE];
	enum store_kek_source source;
	enum store_kek_state state;
	unsigned char salt[STORE_KEK_SALT_SIZE]; /* of a passphrase */
	int64_t opslimit, memlimit;              /* of a passphrase; memlimit in bytes */
	unsigned char check[STORE_KEK_CHECK_MAX];
	size_t check_len;
};

/*
 * All rows, oldest first; *ret is the caller's to free. secret_key_state: a row is not as cloop
 * writes it, or there are too many.
 */
must_check int store_kek_list(
	struct store *s, struct store_kek **ret, size_t *ret_n, struct error *err);
must_check int store_kek_insert(struct store *s, const struct store_kek *kek, struct error *err);
must_check int store_kek_set_state(
	struct store *s, const char *id, enum store_kek_state state, struct error *err);
/* Active rows that no secret refers to become retired. */
must_check int store_kek_retire_unused(struct store *s, struct error *err);
/* Removes retired rows that no secret refers to. */
must_check int store_kek_delete_unused(struct store *s, struct error *err);
