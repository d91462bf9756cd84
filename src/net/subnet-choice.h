/*
 * Which subnet a new network gets (network.md §9.2 step 1): candidates of a pool, beginning where
 * the network's name says, without those that the host uses already. Pure.
 */
#pragma once

#include "net/cidr.h"

enum {
	SUBNET_RUN_BITS = 28,
	SUBNET_SHARED_BITS = 24,
	SUBNET_TRIES_MAX = 256,
};

struct subnet_choice {
	struct cidr pool, pool6;
	bool ipv6;
	unsigned bits;
	uint32_t count, next, tried;
};

struct subnet {
	struct cidr range;
	struct address gateway; /* its first address */
	bool ipv6;              /* the other two are there */
	struct cidr range6;
	struct address gateway6;
};

struct subnet_pools {
	const char *pool, *pool6; /* NULL: the default */
	bool ipv6;
};

/*
 * Pools as subnet_pool_check() lets them pass; bits: of a subnet, not shorter than the pool's.
 * seed: the first four bytes of the SHA-256 of the network's name. -1: egress_pool_invalid.
 */
must_check int subnet_choice_begin(const struct subnet_pools *pools, unsigned bits, uint32_t seed,
	struct subnet_choice *ret, struct error *err);
/* The next candidate that overlaps nothing of `taken` (default routes do not count); false: none.
 */
bool subnet_choice_next(struct subnet_choice *c, struct cidr_list taken, struct subnet *ret);
