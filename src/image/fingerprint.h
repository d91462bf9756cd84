/* Under what a verification succeeded: the key of the verdict cache (image-trust.md §8.3). Pure. */
#pragma once

#include "base/hash.h"
#include "image/policy.h"

/*
 * SHA-256 of the policy, in normal form, and of the contents of its keys: key_hashes holds the hex
 * SHA-256 of each file of p->cosign_public_keys, in that order. The order of lists, their
 * duplicates and the case of hosts do not matter; a key that was replaced in place does.
 */
void fingerprint_policy(const struct image_policy *p, char (*key_hashes)[SHA256_HEX_SIZE],
	char out[SHA256_HEX_SIZE]);
