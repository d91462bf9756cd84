/* Requests to the supervisor of a run, from any process (container-driver.md §14, §18.4). */
#pragma once

#include "executor/rundir/rundir.h"

/*
 * Sends one request and waits for its answer (timeout_ms 0 = none). An ended run: done, 0. A run
 * whose supervisor died gets a new one first.
 */
must_check int request_send(const struct home *home, const struct rundir *run,
	const json_t *request, int64_t timeout_ms, struct error *err);
/* The same with the answer; NULL of an ended run. */
must_check int request_ask(const struct home *home, const struct rundir *run, const json_t *request,
	int64_t timeout_ms, json_t **ret, struct error *err);
/* interrupt, terminate or kill; else signal_invalid. */
must_check int request_signal(
	const struct home *home, const struct rundir *run, const char *signal, struct error *err);
/* Request `cancelled`; returns when the run has ended. grace_ms -1: the run's own. */
must_check int request_stop(
	const struct home *home, const struct rundir *run, int64_t grace_ms, struct error *err);
