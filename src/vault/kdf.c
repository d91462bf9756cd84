#include "vault/kdf.h"

#include <assert.h>
#include <sodium.h>

#include "vault/seal.h"

static_assert(KDF_SALT_SIZE == crypto_pwhash_argon2id_SALTBYTES, "salt");

int kdf_derive(struct text passphrase, const unsigned char salt[KDF_SALT_SIZE],
	const struct kdf_limits *limits, struct locked *ret, struct error *err)
{
	if (limits->opslimit < (int64_t)crypto_pwhash_argon2id_OPSLIMIT_MIN ||
		limits->opslimit > KDF_OPSLIMIT_MAX ||
		limits->memlimit < (int64_t)crypto_pwhash_argon2id_MEMLIMIT_MIN ||
		limits->memlimit > KDF_MEMLIMIT_MAX)
		return error_set(err, ERROR_SECRET_KEY_STATE,
			"a key with %lld passes over %lld bytes is none of cloop's",
			(long long)limits->opslimit, (long long)limits->memlimit);
	locked_make(ret, SEAL_KEY_SIZE);
	if (crypto_pwhash_argon2id(ret->p, ret->len, passphrase.p, passphrase.len, salt,
		    (unsigned long long)limits->opslimit, (size_t)limits->memlimit,
		    crypto_pwhash_argon2id_ALG_ARGON2ID13) == 0)
		return 0;
	locked_done(ret);
	return error_set(err, ERROR_OUT_OF_MEMORY, "a key needs %lld MiB of memory for a moment",
		(long long)(limits->memlimit >> 20));
}
