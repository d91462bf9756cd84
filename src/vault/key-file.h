/*
 * HOME/keys/secret.key (disk-and-secrets.md §13): `cloop-kek-v1 `, 64 hexadecimal digits and a line
 * break. A key that replaces it lies beside it (secret.key.next) until the transaction that makes
 * it the primary is on the disk; whoever opens the secrets tries both. Files are only changed while
 * the store's write lock is held.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "vault/locked.h"

enum key_file { KEY_FILE_NOW, KEY_FILE_NEXT };

/* Something has the name, whatever it is. */
bool key_file_exists(const char *home, enum key_file which);
/*
 * The key: 0, or 1 = there is none. Refused (secret_key_wrong) unless it is a regular file of ours
 * with one name, without rights for group and others, and of that form.
 */
must_check int key_file_read(
	const char *home, enum key_file which, struct locked *ret, struct error *err);
/* Writes KEY_FILE_NEXT (0600), replacing it; it outlives a power cut. */
must_check int key_file_write_next(const char *home, const struct locked *key, struct error *err);
/* KEY_FILE_NEXT becomes KEY_FILE_NOW; with `first` it must not exist (io). */
must_check int key_file_promote(const char *home, bool first, struct error *err);
/* Removes it; what is gone is fine. */
must_check int key_file_remove(const char *home, enum key_file which, struct error *err);
