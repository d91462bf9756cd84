/* Public keys that signatures are verified with: may the file be used (image-trust.md §8.1)? */
#pragma once

#include "base/error.h"
#include "base/hash.h"

enum { COSIGN_KEY_MAX_BYTES = 64 << 10 };

/*
 * Opens the file (links are followed: what counts is what cosign will open) and gives the SHA-256
 * of its contents. -1, with the path and the reason: it is missing, no regular file, too large,
 * writable by its group or others, or belongs to neither root nor this user. The code of the error
 * is sandbox_image_denied; the caller knows that the rule is policy-configuration.
 */
must_check int cosign_key_hash(const char *path, char ret[SHA256_HEX_SIZE], struct error *err);
