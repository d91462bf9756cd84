/*
 * Attempts that no session stands behind: a row of the audit trail at most once a minute for each
 * source address, with a count (network.md §12.4).
 */
#pragma once

#include "egress/proxy/event-log.h"

enum { STRANGERS_MAX = 64, STRANGERS_PERIOD_MS = 60000 };

struct stranger {
	struct address from;
	int64_t until_ms; /* 0: a free place */
	uint64_t count;   /* since the last row */
	enum egress_verdict verdict;
};
struct strangers {
	struct event_log *events;
	struct loop *loop;
	struct loop_source *timer;
	struct stranger v[STRANGERS_MAX];
};
void stranger_init(struct strangers *s, struct loop *loop, struct event_log *events);
/* Writes what was only counted so far. */
void stranger_done(struct strangers *s);
void stranger_seen(struct strangers *s, const struct address *from, enum egress_verdict verdict);
