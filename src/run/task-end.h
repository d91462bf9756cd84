/* What becomes of a task when its run has ended (docs/tasks.md). Pure. */
#pragma once

#include "run/final-record.h"
#include "store/task.h"

struct task_end {
	enum store_task_state state;
	char *note; /* why, for people; NULL: there is nothing to say */
};
void task_end_done(struct task_end *e);

/*
 * ok: done. What never ran, or was stopped for want of disk space, is pending again: the cause is
 * not the task's, and another run repeats nothing. Everything else is failed, a run that was lost
 * included: nobody knows how far it came.
 */
void task_end_judge(const struct final_record *f, struct task_end *ret);
