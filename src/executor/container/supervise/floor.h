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
struct space_apart;

/* The only one that pauses and unpauses the sandbox. */
struct floor_watch {
	struct space space;
	bool paused;      /* by the engine; until it has said that it is not */
	bool stopped;     /* SIGSTOP to every process of it */
	bool thaw;        /* it goes on now, whatever the readings say; until the engine did it */
	int64_t again_ms; /* between two looks while it is low */
	struct loop_source *timer, *retry;
	bool by_thread;            /* readings are a thread's: they may block */
	struct space_apart *apart; /* a reading that is waited for */
	struct loop_source *answer;
	struct engine_call *call; /* pause or unpause */
};

/*
 * The workload runs, or was taken over: from now on free space is read. Nothing without a floor.
 * paused: what the engine says of one that was taken over.
 */
void floor_begin(struct supervisor *s, bool paused);
/* Once nobody watches any more; also of a supervisor that has no record. */
void floor_end(struct supervisor *s);
/* The run ends: nothing of it is frozen. */
void floor_forget(struct supervisor *s);
/*
 * The sandbox goes on, whoever froze it: it is being signalled (container-driver.md §14.2). Below
 * the floor it is frozen again at the next look.
 */
void floor_thaw(struct supervisor *s);
/* It is frozen, or about to be. */
bool floor_frozen(const struct supervisor *s);
/* The end that was asked for did not come about. */
void floor_withdraw(struct supervisor *s);
/* What the final record says of a run that could not be frozen and was ended instead. */
void floor_conclude(struct supervisor *s, enum run_outcome outcome);
