/*
 * Measuring directory trees that somebody else changes meanwhile (disk-and-secrets.md §4): what du
 * counts, by descriptors alone, within bounds of time, descriptors and memory. No policy.
 *
 * One struct walk is one measurement. Its roots are walked one after the other, each by the caller
 * and, if it is large, a thread beside it that has ended when walk_root returns; a file with
 * several links counts once over all of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum walk_reason {
	WALK_COMPLETE,
	WALK_DEADLINE,
	WALK_UNREADABLE, /* went on, but some directories could not be read */
	WALK_MOVED,      /* a directory was moved while it was walked */
	WALK_FDS,        /* out of descriptors; or what is open could not be looked at (§5) */
	WALK_ERROR,      /* anything else, a bound of memory included */
	WALK_REASON_COUNT
};
const char *walk_reason_text(enum walk_reason r); /* "complete", "deadline" … */
int walk_reason_from_text(struct text t);

enum { WALK_UNREADABLE_SHOWN = 3, WALK_PATH_SHOWN = 1024 };

/* Anything but WALK_COMPLETE: bytes and entries are lower bounds. */
struct walk_result {
	uint64_t bytes, entries;
	enum walk_reason reason;
	uint64_t n_unreadable;
	char *unreadable[WALK_UNREADABLE_SHOWN]; /* below the root, cut; "." = itself; owned */
};
void walk_result_done(struct walk_result *r);

/* How mount points below a root are known. */
enum walk_borders {
	WALK_BORDERS_MOUNT_ID, /* by the kernel, else the next */
	WALK_BORDERS_MOUNTINFO,
	WALK_BORDERS_DEVICE,
};

struct walk_bounds {
	int64_t deadline_ms; /* boottime; 0 = none */
	bool (*cancelled)(
		void *data); /* asked as often as the clock, by any thread; NULL = never */
	void *data;
	size_t max_dirs;  /* open at a time; 0 = min(4,096, RLIMIT_NOFILE/8), >= 8 */
	size_t walkers;   /* threads, the caller's included; 0 = 2, or 1 with one CPU or few dirs */
	size_t alone;     /* names that the caller sees before there are others; 0 = its own */
	size_t max_links; /* groups of 64 files with several links (walk-links.h); 0 = its own */
	enum walk_borders borders;
};

struct walk;
must_check struct walk *walk_new(const struct walk_bounds *b);
void walk_free(struct walk *w);
DEFINE_AUTO_PTR(walk)

struct walk_root {
	int at;                  /* descriptor, or AT_FDCWD */
	const char *path;        /* below it; a link as its last component is no root */
	bool optional;           /* missing, no directory, or a link: empty */
	const char *exclude_top; /* this name directly below it is left out; or NULL */
};
/*
 * 0 and *ret (complete or not), to be released; 1: cancelled, nothing is known; -1 io: it is
 * missing, or is no directory.
 */
must_check int walk_root(
	struct walk *w, const struct walk_root *root, struct walk_result *ret, struct error *err);
/* CPU time that threads beside the caller's have taken. */
int64_t walk_helped_us(const struct walk *w);
/* A filesystem on which something was counted; as st_dev. */
bool walk_met_device(const struct walk *w, uint64_t device);
/* False: this measurement counted the file already; or WALK_LINKS_MAX others by this function. */
bool walk_first_time(struct walk *w, uint64_t device, uint64_t inode);
