/*
 * One measurement of a run's workspace (disk-and-secrets.md §3): the tree without .cloop at its
 * top, what .cloop exceeds its size at the start by, and files that are deleted but open.
 */
#pragma once

#include "limits/walk-open.h"
#include "limits/walk.h"

struct disk_question {
	int project; /* directory of the workspace, O_PATH or better */
	bool has_baseline;
	uint64_t baseline;
	struct walk_bounds bounds;
	const struct walk_open *open; /* NULL: nobody works there yet */
};

/* Lower bounds unless reason is WALK_COMPLETE. Released by disk_measured_done(). */
struct disk_measured {
	uint64_t bytes, entries;
	uint64_t open_bytes; /* of bytes: files that are deleted and open */
	int64_t cpu_us;      /* that it took, of all its threads */
	enum walk_reason reason;
	char *unreadable[WALK_UNREADABLE_SHOWN];
};
void disk_measured_done(struct disk_measured *m);

/* 0; 1: cancelled; -1 io. */
must_check int disk_measure(
	const struct disk_question *q, struct disk_measured *ret, struct error *err);
/* .cloop alone: its bytes into *ret; 1: not known, or cancelled; -1 never. */
must_check int disk_measure_baseline(
	int project, const struct walk_bounds *bounds, uint64_t *ret_bytes, uint64_t *ret_entries);
