/*
 * Files that are deleted and still open (disk-and-secrets.md §5): they take room, and no walk sees
 * them. Not seen: files that are only mapped, and descriptors on their way in a socket.
 */
#pragma once

#include <sys/types.h>

#include "limits/walk.h"

enum {
	WALK_OPEN_PROCESSES = 4096,
	WALK_OPEN_FDS = 65536,
	WALK_OPEN_MS = 2000,
	WALK_OPEN_MOUNTS = 64
};

struct walk_open {
	pid_t init;        /* its mount namespace is the container's; it is not looked at itself */
	const pid_t *pids; /* they may end meanwhile */
	size_t n;
	bool more; /* there are processes beyond these */
	/* Where the measured trees are mounted inside: targets as its mountinfo has them. */
	const char *const *targets; /* NULL-terminated */
};
/*
 * Adds to *ret the regular files without a name that the processes hold open, each once, on
 * filesystems that the walk has met; of a process in the container's mount namespace only those
 * opened through one of the targets. Beyond the bounds, or where the kernel denies it,
 * ret->reason, if it was WALK_COMPLETE, becomes WALK_FDS. ret->entries stays.
 */
void walk_open_add(struct walk *w, const struct walk_open *in, struct walk_result *ret);

/* Ids of the mounts at the targets, from a text of mountinfo: how many of `max` were put into ret.
 * Pure. */
size_t walk_open_mounts(
	struct text mountinfo, const char *const *targets, uint64_t *ret, size_t max);
