/*
 * Holding a run to its disk limit (disk-and-secrets.md §6-§8). The workspace is measured by a
 * thread of its own, one walk at a time; the loop only hears that it is done.
 */
#pragma once

#include <pthread.h>

#include "executor/container/decisions/classify.h"
#include "executor/container/disk-measure.h"
#include "limits/disk-schedule.h"
#include "limits/disk-unknown.h"

struct supervisor;
struct loop_source;
struct disk_walk;

struct disk_watch {
	struct disk_loop loop;
	struct disk_unknown unknown;
	int project;            /* the workspace; -1 = nothing is measured */
	struct disk_walk *walk; /* under way */
	struct loop_source *event, *timer;
	bool has_base; /* names that the run began with are known */
	uint64_t base_entries;
};
#define DISK_WATCH_INIT ((struct disk_watch){.project = -1})

/* The workload runs: from now on its workspace is measured. Nothing for a run without a limit. */
void disk_begin(struct supervisor *s);
/* Once the run ends; a walk under way is abandoned. */
void disk_end(struct supervisor *s);
/*
 * The directory that the run began with, by its number if another supervisor had it open. -1: it is
 * not where it was.
 */
must_check int disk_open_project(const struct supervisor *s);
/* The kill was not delivered, and the run still goes on. */
void disk_withdraw(struct supervisor *s);
/* What the final record says of disk use, once it is known how the run ended. */
void disk_conclude(struct supervisor *s, enum run_outcome outcome);
