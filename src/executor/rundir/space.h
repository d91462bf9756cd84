/*
 * The free-space floor over the filesystems that a run fills: its workspace's and the home's
 * (disk-and-secrets.md §11). Readings and what follows from them; what is done about it is the
 * caller's.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "executor/rundir/home.h"
#include "limits/disk-floor.h"

enum { SPACE_FILESYSTEMS = 2, SPACE_EVERY_MS = 1000, SPACE_AGAIN_MS = 60000 };

struct space_filesystem {
	int fd;      /* its own */
	char *whose; /* "the workspace PATH", for people */
	struct disk_floor floor;
	bool failed; /* a reading did, and that was logged */
	bool local;  /* the kernel answers by itself */
};

struct space {
	struct space_filesystem v[SPACE_FILESYSTEMS];
	size_t n; /* 0 = nothing is looked at */
};
#define SPACE_INIT ((struct space){.n = 0})
void space_done(struct space *s);

struct space_place {
	int fd; /* O_PATH is enough; < 0 is left out */
	const char *what, *path;
};
/* floor_mb 0: nothing will be looked at. Two places on one filesystem are looked at once. */
void space_open(struct space *s, uint64_t floor_mb, const struct space_place *places, size_t n);

/* The same with the two that a run fills. project: < 0 = its directory is not to be had. */
void space_open_run(
	struct space *s, uint64_t floor_mb, int project, const char *path, const struct home *home);

/* Hears of each filesystem that crossed its floor: `text` says which way and where. */
typedef void space_crossed_fn(void *data, bool low, const char *text);
/* Reads all of them. A reading that fails changes nothing, and is logged once. */
void space_look(struct space *s, space_crossed_fn *fn, void *data);

/* One reading of each: MB, or -1 with its errno. */
struct space_reading {
	int64_t free_mb[SPACE_FILESYSTEMS];
	int error[SPACE_FILESYSTEMS];
};
/* The two halves of space_look(). */
void space_read(const struct space *s, struct space_reading *ret);
void space_take(
	struct space *s, const struct space_reading *reading, space_crossed_fn *fn, void *data);
/* A reading may have to wait for somebody else: a server, a program. */
bool space_may_block(const struct space *s);
/* One of them is below its floor. */
bool space_low(const struct space *s);
/* Which ones are, by `whose`; and the same taken over from another process. */
must_check json_t *space_low_list(const struct space *s);
void space_restore(struct space *s, const json_t *low);
