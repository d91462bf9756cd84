/*
 * The parts of a walk: walk.c is the measurement, walk-tree.c goes through a tree, walk-dirs.c
 * holds the directories on the way, walk-crew.c lets several threads do it.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
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
	WALK_CREW_MAX = 4,
	WALK_TICKS = 128, /* names between two looks at the clock */
};

/* A directory on the way from the root. */
struct walk_dir {
	int fd;      /* -1: closed for want of descriptors */
	bool listed; /* to its end */
	bool unreadable;
	uint64_t device, inode, mount;
	int64_t offset; /* of the next piece of its listing */
	size_t names;   /* in walker.names: where its own begin */
	size_t name;    /* in walker.path: where its name begins */
};

/* What one thread goes through: a tree below one directory. */
struct walker {
	struct walk *all;
	struct walk_dir *dirs;
	size_t depth, room;
	size_t shallowest;     /* dirs[i].fd is -1 for i < this, and open from there on */
	size_t above;          /* directories between the root and dirs[0], which others hold */
	struct str names;      /* NUL-terminated: directories that were listed and not walked yet */
	struct str path;       /* of the deepest directory, each name behind a slash */
	char *list;            /* WALK_LIST_SIZE */
	unsigned ticks, given; /* names seen or entered; and when it last gave some away */
	bool has_device;
	uint64_t device; /* that was met last */
	struct walk_result result;
};

/* A part of a tree for whoever has nothing to do. */
struct walk_job {
	struct walk_dir dir; /* open; its listing is not this job's */
	size_t above;
	char *path; /* of dir */
	size_t path_len;
	char *names; /* directories in it, counted, to be entered; or NULL */
	size_t names_len;
	char *list; /* of its listing, to be counted and entered; or NULL */
	size_t list_len;
};

/* Several threads on one tree. What is not atomic is under walk.lock. */
struct walk_crew {
	pthread_t threads[WALK_CREW_MAX - 1];
	struct walker *helpers[WALK_CREW_MAX - 1];
	size_t n;    /* of both */
	size_t idle; /* of n + 1 */
	struct walk_job *job;
	bool tried; /* to have helpers */
	int64_t cpu_us;
	pthread_cond_t changed;
	atomic_bool hungry; /* somebody is idle, and there is no job */
	atomic_bool stop;
	atomic_uint small; /* jobs that were */
};

/* One measurement. */
struct walk {
	struct walk_bounds bounds;
	size_t walkers, max_dirs; /* directories of each */
	pthread_mutex_t lock;     /* of links, devices, crew */
	struct walk_links links, nameless;
	uint64_t devices[WALK_DEVICES_MAX];
	size_t n_devices;
	bool links_full; /* some files were counted by shares */

	const struct walk_root *root;
	uint64_t root_device, root_mount;
	struct strv mounts; /* WALK_BORDERS_MOUNTINFO: paths of mount points */
	char *root_path;
	enum walk_borders borders;
	struct walker own;
	struct walk_crew crew;
};

void walk_tree_init(struct walker *w, struct walk *all);
void walk_tree_done(struct walker *w);
/* The deepest directory is the root, which was counted. Ends with all of it, or a reason. */
void walk_tree_root(struct walker *w);
void walk_tree_job(struct walker *w, struct walk_job *job);
/* Counts one name, or the root. False: the walk ends here. */
bool walk_tree_count(struct walker *w, const struct statx *st);
/* The deepest directory, or what has this name in it. */
void walk_tree_unreadable(struct walker *w, const char *name);
/* The first reason is kept, and everybody stops. Always false. */
bool walk_tree_end(struct walker *w, enum walk_reason reason);
bool walk_tree_cancelled(const struct walk *all);
bool walk_tree_time_left(struct walker *w);
/* Of the deepest directory, below the root: 1. */
size_t walk_tree_depth(const struct walker *w);

/* After a name: more threads, if the tree is large. */
void walk_crew_join(struct walker *w);
/* Gives some of its directories, or of the rest of a listing, away if somebody waits for work. */
void walk_crew_share_names(struct walker *w);
/* How many bytes of the rest are left to the caller. */
size_t walk_crew_share_list(struct walker *w, const char *rest, size_t n);
/* Works for others until nobody has anything to do; then adds up what helpers found. */
void walk_crew_finish(struct walk *all);

/* statx of `name` below fd, or of fd itself where name is "". -1 with errno. */
int walk_dirs_stat(int fd, const char *name, struct statx *ret);
uint64_t walk_dirs_device(const struct statx *st);
/* Takes d->fd over as the deepest directory; sets what the walker knows of it. -1: too deep. */
int walk_dirs_push(struct walker *w, const struct walk_dir *d, const char *name);
struct walk_dir walk_dirs_of(int fd, const struct statx *st);
/* Opens a child of the deepest directory. -1 with errno. */
int walk_dirs_open(struct walker *w, const char *name);
/*
 * Leaves the deepest directory; the one above it is open afterwards. 0, or what ends the walk.
 */
enum walk_reason walk_dirs_pop(struct walker *w);
/* Closes everything. */
void walk_dirs_clear(struct walker *w);
