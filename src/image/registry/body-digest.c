#include "image/registry/body-digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include "base/mem.h"

enum { SHA256, SHA512, ALGORITHMS };

static const char *const prefixes[ALGORITHMS] = {"sha256:", "sha512:"};

struct body_digest {
	EVP_MD_CTX *context[ALGORITHMS];
};

/* libcrypto only fails here for want of memory. */
static void check(int done)
{
	if (done != 1)
		abort();
}

struct body_digest *body_digest_new(void)
{
	struct body_digest *d = mem_alloc(sizeof(*d));

	for (size_t i = 0; i < ALGORITHMS; i++) {
		d->context[i] = EVP_MD_CTX_new();
		check(d->context[i] != NULL);
	}
	body_digest_reset(d);
	return d;
}

void body_digest_free(struct body_digest *d)
{
	for (size_t i = 0; d && i < ALGORITHMS; i++)
		EVP_MD_CTX_free(d->context[i]);
	free(d);
}

void body_digest_reset(struct body_digest *d)
{
	check(EVP_DigestInit_ex(d->context[SHA256], EVP_sha256(), NULL));
	check(EVP_DigestInit_ex(d->context[SHA512], EVP_sha512(), NULL));
}

void body_digest_add(struct body_digest *d, const void *bytes, size_t n)
{
	for (size_t i = 0; i < ALGORITHMS; i++)
		check(EVP_DigestUpdate(d->context[i], bytes, n));
}

void body_digest_text(const struct body_digest *d, struct text like, char out[IMAGE_DIGEST_MAX + 1])
{
	size_t which = text_starts(like, prefixes[SHA512]) ? SHA512 : SHA256;
	size_t prefix = strlen(prefixes[which]);
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	EVP_MD_CTX *copy = EVP_MD_CTX_new();

	check(copy && EVP_MD_CTX_copy_ex(copy, d->context[which]));
	check(EVP_DigestFinal_ex(copy, bytes, &n));
	EVP_MD_CTX_free(copy);
	memcpy(out, prefixes[which], prefix);
	hex_encode(bytes, n, out + prefix);
}
