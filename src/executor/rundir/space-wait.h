/* A run that waits for free space before it starts (disk-and-secrets.md §11). */
#pragma once

#include "executor/executor.h"
#include "executor/rundir/home.h"
#include "executor/rundir/record.h"

struct space_wait {
	const struct executor_start *start; /* the floor, who hears of it, what ends the wait */
	const struct home *home;
	const struct rundir *run;
	json_t *record;   /* the run's first: it says `reason` disk_low meanwhile */
	int project;      /* directory of the workspace */
	const char *path; /* of it */
};
/*
 * 0: there is room; 1: there is now, after a wait. While there is not, the record on the disk is
 * pending with reason disk_low, and it is looked again each minute. -1: start_cancelled, by
 * cancel_fd or by space_wait_cancel().
 */
must_check int space_wait(struct space_wait *w, struct error *err);
/* That run waits so now. */
bool space_wait_goes_on(const struct rundir *run);
/* Asks whoever waits with the run to give it up, which takes a second: start_cancelled. */
must_check int space_wait_cancel(const struct rundir *run, struct error *err);
