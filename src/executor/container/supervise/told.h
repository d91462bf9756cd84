/*
 * What the run's proxy told comes into the audit trail while the run lives (network.md §12.4): by
 * `cloop lease extend --events`, a child, since a supervisor opens no database. Two seconds after
 * the first event, then at most once a minute, and never when nothing is new; the rest comes with
 * the final record.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct supervisor;
struct engine_call;
struct loop_source;

struct told {
	struct loop_source *timer;
	struct engine_call *call;
	int64_t asked_at;    /* boottime of the last call; 0 = none */
	size_t asked, taken; /* bytes of RUN/egress-events when it began, and when one went well */
};

/* There is more in RUN/egress-events. */
void told_more(struct supervisor *s);
void told_end(struct supervisor *s);
