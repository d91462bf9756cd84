/*
 * How long a lease goes on (disk-and-secrets.md §17): every five minutes `cloop lease extend` is
 * asked, as a child, since a supervisor opens no database. What was revoked is taken back, what
 * expired is wiped, and so is everything when nobody could be asked until the lease's end, which is
 * that of the grant that ends first: a revocation that did not reach the run takes effect within
 * one window.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "executor/container/supervise/engine-call.h"

struct supervisor;
struct loop_source;

struct extension {
	struct loop_source *timer, *end_timer;
	struct engine_call *call;
	int64_t ends_at;  /* boottime, ms: steps of the wall clock do not matter */
	int64_t asked_at; /* the same; 0 = never */
	bool unheard;     /* the last question had no answer */
	unsigned pace;    /* test hook: all waits are so many times shorter */
};

/* The workload runs: from now on the lease is extended. Nothing for a run without one, or
 * with one that lasts. */
void extend_begin(struct supervisor *s);
/* Ends a question that is under way, too. */
void extend_end(struct supervisor *s);
/*
 * Starts `cloop lease extend` of this run, with that option more (NULL: none), which has a minute;
 * of what it prints out_max bytes are kept. NULL: error.
 */
must_check struct engine_call *extend_call(struct supervisor *s, const char *option, size_t out_max,
	engine_call_fn *fn, struct error *err);
