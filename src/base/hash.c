#include "base/hash.h"

#include <assert.h>
#include <openssl/evp.h>

void sha256_hex(struct text bytes, char out[SHA256_HEX_SIZE])
{
	unsigned char digest[32];
	unsigned int n = 0;

	int ok = EVP_Digest(bytes.p, bytes.len, digest, &n, EVP_sha256(), NULL);
	assert(ok == 1 && n == sizeof(digest));
	hex_encode(digest, sizeof(digest), out);
}
