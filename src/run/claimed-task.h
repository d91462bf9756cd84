/*
 * A task that this process has taken to run (store/task.h). The claim is good as long as the
 * process lives: it holds the lock <home>/claims/CLAIM. Once the run is in the task's row, or has
 * ended, the lock is not needed any more.
 */
#pragma once

#include "base/strv.h"
#include "executor/rundir/home.h"
#include "run/task-attempt.h"

enum { CLAIMED_TASK_ARGV_MAX = 1024 };

struct claimed_task {
	struct task_attempt attempt;
	char *title;
	struct strv argv; /* empty: the task has no command of its own */
	int folder, lock; /* <home>/claims, and the claim's file */
};
#define CLAIMED_TASK_INIT \
	((struct claimed_task){.argv = STRV_INIT(CLAIMED_TASK_ARGV_MAX), .folder = -1, .lock = -1})
/* Gives up the claim's lock; the task stays as it is. */
void claimed_task_done(struct claimed_task *t);

enum { CLAIMED_TASK_NONE = 1 };
/*
 * Takes the oldest pending task of the project (id 0), or this one. CLAIMED_TASK_NONE: none is
 * pending. Errors: task_not_found; task_state when that one is not pending; of the store.
 */
must_check int claimed_task_take(const struct home *home, const char *project, int64_t id,
	struct claimed_task *ret, struct error *err);
/* It got no run: it is pending again, and why. A failure is a warning; the next look does it. */
void claimed_task_give_back(
	const struct home *home, const struct claimed_task *t, const char *note);

/*
 * Ends the attempts, of all projects, that nobody looks after any more: whose process is gone
 * without a run (pending again), or whose run is gone (failed). A run that is found for one is put
 * into its row. Attempts that go on are left alone. To be called when ended runs are imported.
 */
void claimed_task_settle_all(const struct home *home);
