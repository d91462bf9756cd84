/* The parts of a walk: walk.c goes through the tree, walk-dirs.c holds the directories on the way.
 */
#pragma once

#include <sys/stat.h>

#include "base/strv.h"
#include "limits/walk-links.h"
#include "limits/walk.h"

enum {
	WALK_LIST_SIZE = 1 << 15,  /* bytes of a listing that are read at a time, near the root */
	WALK_LIST_LEAST = 800,     /* far down: a name of 255 UTF-16 units, and its head */
	WALK_LIST_SHARE = 1 << 18, /* in between: this, by the depth */
	WALK_NAME_MAX = 4095, /* of an entry; a longer one is no path, so it cannot be looked up */
	WALK_NAMES_MAX = 64 << 20, /* bytes of names of directories that are still to be walked */
	WALK_DEPTH_MAX = 1 << 20,
	WALK_DEVICES_MAX = 4096,
};

/* A directory on the way from the root. */
struct walk_dir {
	int fd;      /* -1: closed for want of descriptors */
	bool listed; /* to its end */
	bool unreadable;
	uint64_t device, inode, mount;
	int64_t offset; /* of the next piece of its listing */
	size_t names;   /* in walk.names: where its own begin */
	size_t name;    /* in walk.path: where its name begins */
};

struct walk {
	struct walk_bounds bounds;
	struct walk_links links, nameless;
	uint64_t devices[WALK_DEVICES_MAX];
	size_t n_devices;
	bool links_full; /* some files were counted by shares */

	struct walk_dir *dirs;
	size_t depth, room;
	size_t shallowest; /* dirs[i].fd is -1 for i < this, and open from there on */
	struct str names;  /* NUL-terminated: directories that were listed and not walked yet */
	struct str path;   /* of the deepest directory, each name behind a slash */
	char *list;        /* WALK_LIST_SIZE */
	unsigned ticks;

	const struct walk_root *root;
	struct strv mounts; /* WALK_BORDERS_MOUNTINFO: paths of mount points */
	char *root_path;
	enum walk_borders borders;
	struct walk_result result;
};

/* statx of `name` below fd, or of fd itself where name is "". -1 with errno. */
int walk_dirs_stat(int fd, const char *name, struct statx *ret);
uint64_t walk_dirs_device(const struct statx *st);
/* Takes fd over as the deepest directory. -1: too deep. */
int walk_dirs_push(struct walk *w, int fd, const struct statx *st, const char *name);
/* Opens a child of the deepest directory. -1 with errno. */
int walk_dirs_open(struct walk *w, const char *name);
/*
 * Leaves the deepest directory; the one above it is open afterwards. 0, or what ends the walk.
 */
enum walk_reason walk_dirs_pop(struct walk *w);
/* Closes everything. */
void walk_dirs_clear(struct walk *w);
