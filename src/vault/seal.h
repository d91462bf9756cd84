/*
 * Sealing (disk-and-secrets.md §13): XChaCha20-Poly1305-IETF with associated data that names what
 * is sealed, so that no row can be passed off as another. A sealed text is byte 0x01, 24 bytes of
 * nonce, ciphertext and tag.
 */
#pragma once

#include "base/error.h"
#include "base/str.h"
#include "vault/locked.h"
#include "vault/secret-kind.h"

enum {
	SEAL_KEY_SIZE = 32,
	SEAL_NONCE_SIZE = 24,
	SEAL_OVERHEAD = 1 + SEAL_NONCE_SIZE + 16, /* what sealing adds to a text */
	SEAL_AAD_MAX = 512,
};
/* What the check of a key seals. */
#define SEAL_CHECK_TEXT "cloop-kek-check-v1"

static inline struct text seal_bytes(const struct str *s)
{
	return (struct text){str_text(s), s->len};
}

/* Associated data; *ret is empty before, with room for SEAL_AAD_MAX. */
void seal_aad_check(struct str *ret, const char *kek_id);
void seal_aad_dek(struct str *ret, const char *kek_id, const char *secret_id);
void seal_aad_payload(struct str *ret, const char *secret_id, enum secret_kind kind);

/* A new key, or nonce: random bytes. */
void seal_random(void *bytes, size_t n);
/*
 * Seals `plain` and appends it to *ret, whose maximum holds it; nonce NULL: a random one (the case
 * runner gives its own). Keys have SEAL_KEY_SIZE bytes.
 */
void seal_close(const struct locked *key, const unsigned char *nonce, struct text aad,
	struct text plain, struct str *ret);
/*
 * Opens it into *ret. 1 = it does not open: another key, other associated data, or a bit that
 * changed; *ret is left empty.
 */
must_check int seal_open(
	const struct locked *key, struct text aad, struct text sealed, struct locked *ret);
