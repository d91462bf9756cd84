/*
 * Giving a run to its supervisor, whatever the driver: start cloop-shim, hand it the descriptors of
 * the start, wait until the workload runs or is refused (container-driver.md §9.1).
 */
#pragma once

#include "executor/rundir/rundir.h"

enum { HANDOVER_FDS_MAX = 66 };

/* Sends the start to the supervisor: by handover_send(). 0 or -1. */
typedef int handover_send_fn(void *data, int socket, struct error *err);

struct handover {
	const struct home *home;
	const struct rundir *run; /* request and first record are written */
	int *lock_fd;             /* RUN/lock, held; taken: it is the supervisor's from now on */
	int cancel_fd;            /* readable = give up; -1 = none */
	int *ret_supervisor;      /* pidfd of the supervisor, the caller's; may be NULL */
	handover_send_fn *send;
	void *data;
};

/*
 * 0 the workload runs, or ran. -1 refused or cancelled. A supervisor that dies before it answers
 * gets a successor, which finds out how far it came and ends or continues the run; its word counts.
 * The final record is written, but when no supervisor could be started at all.
 */
must_check int handover_run(const struct handover *h, struct error *err);
/* After a refusal: no supervisor has told, and none will. */
bool handover_unrecorded(const struct rundir *run);
/* One byte and n (1 … HANDOVER_FDS_MAX) descriptors, as the supervisor expects them. */
must_check int handover_send(int socket, const int *fds, size_t n, struct error *err);
