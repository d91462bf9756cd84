#include "limits/disk-unknown.h"

#include "limits/disk-limit.h"

enum { STREAK = 5 };

bool disk_unknown_complete(struct disk_unknown *u)
{
	*u = (struct disk_unknown){0};
	return false;
}

bool disk_unknown_incomplete(
	struct disk_unknown *u, bool unreadable, uint64_t bytes, uint64_t limit_mb)
{
	bool was = u->unknown;

	if (!unreadable && !disk_limit_near(bytes, limit_mb)) {
		u->streak = 0;
		return false;
	}
	if (u->streak < STREAK)
		u->streak++;
	u->unknown = was || u->streak >= STREAK;
	return u->unknown && !was;
}
