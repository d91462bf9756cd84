/* Public keys that signatures are verified with: may the file be used (image-trust.md §8.1)? */
#pragma once

#include <sys/stat.h>

#include "base/error.h"
#include "base/hash.h"

enum { COSIGN_KEY_MAX_BYTES = 64 << 10 };

struct cosign_key {
	char hash[SHA256_HEX_SIZE]; /* SHA-256 of its contents */
	struct stat seen;           /* of the file that was read */
};

/*
 * Opens the file (links are followed: what counts is what cosign will open) and reads it. -1, with
 * the path and the reason: it is missing, no regular file, too large, writable by its group or
 * others, or belongs to neither root nor this user; or somebody else could put another in its
 * place: a directory that holds the file, or the link to it, is writable by its group or others and
 * not sticky. The code of the error is sandbox_image_denied; the caller knows that the rule is
 * policy-configuration.
 */
must_check int cosign_key_read(const char *path, struct cosign_key *ret, struct error *err);
/*
 * Whether cosign, which opens the path by itself, may have read something else since. 0: what is
 * there is the file that was read, and nobody has touched it. -1: as cosign_key_read().
 */
must_check int cosign_key_look_again(
	const char *path, const struct cosign_key *key, struct error *err);
