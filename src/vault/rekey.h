/* A new primary key (disk-and-secrets.md §13). */
#pragma once

#include "base/error.h"
#include "store/kek.h"

enum rekey_to { REKEY_SAME, REKEY_TO_KEY_FILE, REKEY_TO_PASSPHRASE };

/* The positive outcome of rekey_run(). */
enum { REKEY_EMPTY = 1 };

struct rekey_done {
	char kek[STORE_KEK_ID_SIZE]; /* the new primary */
	enum store_kek_source from, to;
	size_t secrets; /* data keys sealed anew */
};

/*
 * Seals every data key with a new primary key and retires the old one; payloads are not touched. A
 * key file gets a new key; a passphrase stays as it is and gets a new salt; from a passphrase to a
 * key file, the file that is there, else a new one; from a key file to a passphrase, the file is
 * removed. One audit row secret.rekey. 0, or REKEY_EMPTY = nothing was ever sealed. Errors, after
 * which everything is as before: as vault_open(), secret_key_weak, secret_store (a row does not
 * open; which one is said), io. A crash at any moment leaves one primary, and everything opens.
 */
must_check int rekey_run(struct store *s, const char *home, enum rekey_to to, const char *actor,
	struct rekey_done *ret, struct error *err);
