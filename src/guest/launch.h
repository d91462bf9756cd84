/*
 * Starting a program as the workload is started (container-driver.md §23.2, step 3): a session of
 * its own, default signals, three descriptors and nothing else of the init's.
 */
#pragma once

#include <sys/types.h>

#include "executor/container/init/init-message.h"

struct launch {
	char *const *argv;     /* at least one word */
	char *const *envp;     /* also the source of PATH */
	const char *directory; /* NULL: as it is */
	int stdio[3];  /* become 0-2; stdio[0] = -1: /dev/null. Above 2, or the same number */
	bool terminal; /* stdio[0] becomes the controlling terminal */
};

struct launched {
	pid_t pid;
	int result; /* for launch_result(), which closes it; not blocking */
};

/* Forks. 0, or -1 and *f; whether the program runs is known from launch_result(). */
int launch_start(const struct launch *l, struct launched *ret, struct init_failure *f);

enum launch_outcome {
	LAUNCH_PENDING,
	LAUNCH_RUNS,
	LAUNCH_FAILED, /* *f says how; the process is about to end */
};
enum launch_outcome launch_result(int *result, struct init_failure *f);
/* The same, but waits until it is known. */
enum launch_outcome launch_wait(int *result, struct init_failure *f);
