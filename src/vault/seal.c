#include "vault/seal.h"

#include <assert.h>
#include <sodium.h>

static_assert(SEAL_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key");
static_assert(SEAL_NONCE_SIZE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "nonce");
static_assert(SEAL_OVERHEAD == 1 + SEAL_NONCE_SIZE + crypto_aead_xchacha20poly1305_ietf_ABYTES,
	"overhead");

enum { VERSION = 1 };

/* The parts, joined by NUL. */
static void join(struct str *ret, const char *const *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			str_add_char(ret, '\0');
		str_add_text(ret, parts[i]);
	}
}
#define JOIN(ret, ...) \
	join((ret), (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

void seal_aad_check(struct str *ret, const char *kek_id)
{
	JOIN(ret, "cloop-kek-check-v1", kek_id);
}

void seal_aad_dek(struct str *ret, const char *kek_id, const char *secret_id)
{
	JOIN(ret, "cloop-dek-v1", kek_id, "secrets", secret_id);
}

void seal_aad_payload(struct str *ret, const char *secret_id, enum secret_kind kind)
{
	JOIN(ret, "cloop-payload-v1", "secrets", secret_id, secret_kind_text(kind));
}

void seal_random(void *bytes, size_t n)
{
	if (sodium_init() < 0)
		abort();
	randombytes_buf(bytes, n);
}

void seal_close(const struct locked *key, const unsigned char *nonce, struct text aad,
	struct text plain, struct str *ret)
{
	unsigned char head[1 + SEAL_NONCE_SIZE] = {VERSION};
	size_t room = plain.len + crypto_aead_xchacha20poly1305_ietf_ABYTES;

	assert(key->len == SEAL_KEY_SIZE);
	if (nonce)
		memcpy(head + 1, nonce, SEAL_NONCE_SIZE);
	else
		seal_random(head + 1, SEAL_NONCE_SIZE);
	str_add(ret, head, sizeof(head));
	char *out = str_reserve(ret, room);
	assert(out);
	crypto_aead_xchacha20poly1305_ietf_encrypt((unsigned char *)out, NULL,
		(const unsigned char *)plain.p, plain.len, (const unsigned char *)aad.p, aad.len,
		NULL, head + 1, key->p);
	ret->len += room;
	ret->data[ret->len] = '\0';
}

int seal_open(const struct locked *key, struct text aad, struct text sealed, struct locked *ret)
{
	const unsigned char *in = (const unsigned char *)sealed.p;

	locked_done(ret);
	if (key->len != SEAL_KEY_SIZE || sealed.len < SEAL_OVERHEAD || in[0] != VERSION)
		return 1;
	locked_make(ret, sealed.len - SEAL_OVERHEAD);
	int r = crypto_aead_xchacha20poly1305_ietf_decrypt(ret->p, NULL, NULL,
		in + 1 + SEAL_NONCE_SIZE, sealed.len - 1 - SEAL_NONCE_SIZE,
		(const unsigned char *)aad.p, aad.len, in + 1, key->p);
	if (r == 0)
		return 0;
	locked_done(ret);
	return 1;
}
