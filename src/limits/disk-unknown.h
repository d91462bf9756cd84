/* When the disk use of a run counts as unknown (disk-and-secrets.md §7.3). Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct disk_unknown {
	unsigned streak;
	bool unknown; /* usage.disk_state is `unknown` */
};

/*
 * Takes a sample in; incomplete ones with a reason: `unreadable` or another. True: it became
 * unknown by this sample, which is told once.
 */
bool disk_unknown_complete(struct disk_unknown *u);
bool disk_unknown_incomplete(
	struct disk_unknown *u, bool unreadable, uint64_t bytes, uint64_t limit_mb);
