/*
 * The guard of a run's table (network.md §9.6): whoever changes it, on purpose or by a reload of
 * another firewall, makes the sandbox lose its network, not its filter.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct supervisor;
struct engine_call;
struct loop_source;

struct guard {
	int fd; /* NETLINK_NETFILTER; -1 = none */
	struct loop_source *source, *timer;
	struct engine_call *check; /* a listing under way */
	struct engine_call *cut;   /* `network disconnect` under way */
	bool soon;                 /* the timer is due within moments */
	bool again;                /* something came during a listing */
	unsigned failures;         /* listings that failed, in a row */
};
#define GUARD_INIT ((struct guard){.fd = -1})

/* Listens from here on: before the table is applied. */
must_check int guard_begin(struct supervisor *s, struct error *err);
/* Whatever came up to here was our own doing. */
void guard_forget(struct supervisor *s);
/* The fingerprint is known: looks at once, at every event, and every ten seconds. */
void guard_arm(struct supervisor *s);
void guard_end(struct supervisor *s);
