/*
 * What of the address space this host uses: the destinations of its routes (all tables) and its
 * addresses, by netlink. A new network must not take any of it (network.md §9.2 step 1).
 */
#pragma once

#include "net/cidr.h"

enum { HOST_RANGES_MAX = 100000 };

struct host_ranges {
	struct cidr *v; /* owned */
	size_t n;
};
void host_ranges_done(struct host_ranges *r);

/* -1: io. */
must_check int host_ranges_read(struct host_ranges *ret, struct error *err);
