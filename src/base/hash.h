/*
 * SHA-256 of bytes in memory, through libsodium.
 */
#pragma once

#include <stddef.h>

#include "base/text.h"

#define SHA256_HEX_SIZE 65

/* Lower-case hexadecimal and NUL into out. */
void sha256_hex(struct text bytes, char out[SHA256_HEX_SIZE]);
