#include "base/hash.h"

#include <sodium/crypto_hash_sha256.h>

void sha256_hex(struct text bytes, char out[SHA256_HEX_SIZE])
{
	unsigned char digest[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(digest, (const unsigned char *)bytes.p, bytes.len);
	hex_encode(digest, sizeof(digest), out);
}
