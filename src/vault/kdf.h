/* A key from a passphrase: Argon2id v1.3 (disk-and-secrets.md §13). */
#pragma once

#include "base/error.h"
#include "vault/locked.h"

enum {
	KDF_SALT_SIZE = 16,
	KDF_OPSLIMIT = 3,         /* passes, of a new key */
	KDF_MEMLIMIT = 256 << 20, /* bytes, of a new key */
	KDF_OPSLIMIT_MAX = 64,
	KDF_PASSPHRASE_MIN = 16, /* bytes, of a new key */
};
#define KDF_MEMLIMIT_MAX ((int64_t)4 << 30)

struct kdf_limits {
	int64_t opslimit, memlimit;
};
/*
 * The key, SEAL_KEY_SIZE bytes. secret_key_state: limits that cloop never writes. out_of_memory.
 */
must_check int kdf_derive(struct text passphrase, const unsigned char salt[KDF_SALT_SIZE],
	const struct kdf_limits *limits, struct locked *ret, struct error *err);
