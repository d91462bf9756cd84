/* SHA-256 through OpenSSL. Kept in a file of its own so that a program that hashes nothing (the
 * shim) does not load libcrypto. */
#pragma once

#include <stddef.h>

#include "base/text.h"

#define SHA256_HEX_SIZE 65

/* Lower-case hexadecimal and NUL into out. */
void sha256_hex(struct text bytes, char out[SHA256_HEX_SIZE]);
