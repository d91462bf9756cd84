/*
 * A run's disk limit, and what was found at its start, as request.json says it
 * (disk-and-secrets.md §2, §7.1). Part of the plan (plan.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "limits/disk-schedule.h"

struct plan_disk {
	uint64_t limit_mb;  /* 0 = none: nothing is measured */
	const char *source; /* "spec", "ceiling"; static */
	bool has_baseline;  /* else .cloop is left out */
	uint64_t baseline;  /* bytes of .cloop at the start */
	bool has_start;     /* the start measurement was complete */
	struct disk_sample start;
	uint64_t start_entries;
	uint64_t device, inode; /* of the project's directory, also without a limit; 0 = unknown */
};
#define PLAN_DISK_INIT ((struct plan_disk){.source = ""})

must_check json_t *plan_disk_to_json(const struct plan_disk *d);
/* An absent member is a run without a limit. -1: not of the form. */
must_check int plan_disk_from_json(const json_t *j, struct plan_disk *ret);
