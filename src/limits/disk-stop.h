/* Stopping a run at its disk limit (disk-and-secrets.md §8). Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* How a run ended. */
struct disk_end {
	bool breach;     /* one is on record */
	int64_t exit;    /* code; 137 = SIGKILL */
	bool killed;     /* by us */
	bool oom;        /* the kernel counted an OOM kill in its group */
	bool other_kill; /* another stop was asked for before */
};
/* The end is the limit's doing (§8.2). */
bool disk_stop_credit(const struct disk_end *end);

/* What the engine says of a container that its `kill` did not take. */
enum disk_seen { DISK_SEEN_UNKNOWN, DISK_SEEN_RUNNING, DISK_SEEN_NOT_RUNNING, DISK_SEEN_COUNT };
const char *disk_seen_text(enum disk_seen s);
int disk_seen_from_text(struct text t);

struct disk_kill {
	bool stopped, breach_kept;
	bool retry; /* again after the schedule's minimum */
};
/* kill_done: the kill answered 0; `seen` is not looked at then (§8.1). */
struct disk_kill disk_stop_judge(bool kill_done, enum disk_seen seen);
