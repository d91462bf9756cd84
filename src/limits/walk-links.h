/* Files with more than one link that were counted already, and filesystems that were met. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/*
 * Groups of 64 neighbouring inode numbers that a set remembers: 3 MiB. A filesystem numbers files
 * one after the other, so that they are millions of files.
 */
enum { WALK_LINKS_MAX = 3 << 15 };

struct walk_link {
	uint64_t device, group;
	uint64_t seen; /* a bit for each file of the group; 0 = the place is free */
};
struct walk_links {
	struct walk_link *places;
	size_t n, size; /* size: a power of two, or 0 */
	size_t max;     /* groups; 0 = WALK_LINKS_MAX */
};
void walk_links_done(struct walk_links *l);
/* 1: it is new; 0: it was there; -1: it is not there, and cannot be remembered. */
int walk_links_add(struct walk_links *l, uint64_t device, uint64_t inode);
