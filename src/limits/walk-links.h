/* Files with more than one link that were counted already, and filesystems that were met. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* Files that a set remembers; a tree with more is not counted to its end. */
enum { WALK_LINKS_MAX = 1 << 21 };

struct walk_link {
	uint64_t device, inode; /* inode 0 = the place is free */
};
struct walk_links {
	struct walk_link *places;
	size_t n, size; /* size: a power of two, or 0 */
};
void walk_links_done(struct walk_links *l);
/* 1: it is new; 0: it was there; -1: full. */
int walk_links_add(struct walk_links *l, uint64_t device, uint64_t inode);
