/*
 * Processes of the host, read from /proc, and ending those of a run. A process is named by pid and
 * start time together: a pid alone may belong to somebody else by the time it is used.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

struct local_process {
	pid_t pid, parent, session;
	char state;     /* R, S, D, Z … */
	uint64_t start; /* clock ticks after boot */
};

/* The text of /proc/PID/stat; false when it is not of its form. */
bool local_process_parse(struct text stat, struct local_process *ret);
/* False: there is no such process. */
bool local_process_read(pid_t pid, struct local_process *ret);

/*
 * Is p one of the session that `leader` (as it was recorded) began? now: who has the leader's pid
 * now, NULL = nobody. A session that another process with that pid began later is not it.
 */
bool local_process_of_session(const struct local_process *p, const struct local_process *leader,
	const struct local_process *now);

/*
 * SIGKILL to everybody who descends from us. Who was born meanwhile, or lost its parent between two
 * looks, is met the next time. How many were alive.
 */
size_t local_process_kill_descendants(void);

/*
 * SIGKILL to what is left of a run without a supervisor: the members of the leader's session, and
 * whoever holds one of the run's pipes open. How many were alive. Never ourselves.
 */
size_t local_process_kill_run(const struct local_process *leader, int run_fd);
