/* The key that seals data keys: from its row and what is in hand (disk-and-secrets.md §13). */
#pragma once

#include "store/kek.h"
#include "vault/locked.h"

struct kek {
	struct store_kek row;
	struct locked key; /* SEAL_KEY_SIZE bytes */
};
#define KEK_INIT ((struct kek){.key = {NULL, 0}})
void kek_done(struct kek *k);

enum { KEK_NONE = 1 };

/*
 * The primary key: 0, or KEK_NONE = nothing was ever sealed. Errors: secret_key_state,
 * secret_key_missing, secret_key_wrong, out_of_memory, those of the store; none changes a thing.
 */
must_check int kek_open(struct store *s, const char *home, struct kek *ret, struct error *err);
/* The same; where nothing was ever sealed, the first key is made. Also secret_key_weak, io. */
must_check int kek_open_or_make(
	struct store *s, const char *home, struct kek *ret, struct error *err);
/* Is it still the primary? 0, 1 = no: another process has rekeyed. */
must_check int kek_is_primary(struct store *s, const struct kek *k, struct error *err);

/*
 * A new key of a source, with a row that is not in the store yet (state primary): from the
 * passphrase that is in hand (secret_key_missing, secret_key_weak), or of random bytes.
 */
must_check int kek_new(enum store_kek_source source, struct kek *ret, struct error *err);
/* The same for a key that exists. Takes it. */
void kek_new_of(enum store_kek_source source, struct locked *key, struct kek *ret);
/*
 * With the store's write lock held: what a rekey that was interrupted left of key files is brought
 * to its end.
 */
must_check int kek_settle(const char *home, const struct store_kek *primary, struct error *err);
/* A point at which a test can break the making of keys (sys/fault.h): io. */
must_check int kek_point(const char *point, struct error *err);
