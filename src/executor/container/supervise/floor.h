/*
 * The free-space floor while a run goes on (disk-and-secrets.md §11): read every second; below it
 * the sandbox is frozen, and goes on by itself when there is room again.
 */
#pragma once

#include "executor/container/decisions/classify.h"
#include "executor/rundir/space.h"

struct supervisor;
struct loop_source;
struct engine_call;

enum floor_state {
	FLOOR_RUNS,
	FLOOR_PAUSED,  /* by the engine */
	FLOOR_STOPPED, /* SIGSTOP to every process of it */
};

struct floor_watch {
	struct space space;
	enum floor_state state;
	int64_t again_ms; /* between two looks while it is low */
	struct loop_source *timer;
	struct engine_call *call; /* pause or unpause */
};

/* The workload runs, or was taken over: from now on free space is read. Nothing without a floor. */
void floor_begin(struct supervisor *s);
/* Once the run ends. */
void floor_end(struct supervisor *s);
/* Somebody thaws the sandbox, whatever the floor says: it is being signalled. */
void floor_thaw(struct supervisor *s);
/* What the final record says of a run that could not be frozen and was ended instead. */
void floor_conclude(struct supervisor *s, enum run_outcome outcome);
