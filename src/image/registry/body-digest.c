#include "image/registry/body-digest.h"

#include <sodium/crypto_hash_sha256.h>
#include <sodium/crypto_hash_sha512.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

struct body_digest {
	crypto_hash_sha256_state sha256;
	crypto_hash_sha512_state sha512;
};

struct body_digest *body_digest_new(void)
{
	struct body_digest *d = mem_alloc(sizeof(*d));

	body_digest_reset(d);
	return d;
}

void body_digest_free(struct body_digest *d)
{
	free(d);
}

void body_digest_reset(struct body_digest *d)
{
	crypto_hash_sha256_init(&d->sha256);
	crypto_hash_sha512_init(&d->sha512);
}

void body_digest_add(struct body_digest *d, const void *bytes, size_t n)
{
	crypto_hash_sha256_update(&d->sha256, bytes, n);
	crypto_hash_sha512_update(&d->sha512, bytes, n);
}

static void add_hex(
	const char *prefix, const unsigned char *bytes, size_t n, char out[IMAGE_DIGEST_MAX + 1])
{
	int len = snprintf(out, IMAGE_DIGEST_MAX + 1, "%s", prefix);

	hex_encode(bytes, n, out + len);
}

void body_digest_text(const struct body_digest *d, struct text like, char out[IMAGE_DIGEST_MAX + 1])
{
	struct body_digest copy = *d;
	unsigned char bytes[crypto_hash_sha512_BYTES];

	if (text_starts(like, "sha512:")) {
		crypto_hash_sha512_final(&copy.sha512, bytes);
		add_hex("sha512:", bytes, crypto_hash_sha512_BYTES, out);
	} else {
		crypto_hash_sha256_final(&copy.sha256, bytes);
		add_hex("sha256:", bytes, crypto_hash_sha256_BYTES, out);
	}
}
