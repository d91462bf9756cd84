/*
 * Timeouts of connections. A queue per duration: whoever is armed goes to its end, so that each is
 * sorted by itself and arming costs the same however many wait.
 */
#pragma once

#include <stdint.h>
#include <sys/queue.h>

#include "sys/loop.h"

enum deadline_kind {
	DEADLINE_HEAD,     /* a request's head: 20 s */
	DEADLINE_IDLE,     /* between requests: 60 s */
	DEADLINE_UPSTREAM, /* for the head of an answer: 60 s */
	DEADLINE_RESOLVE,  /* of a look-up, with its wait for a helper: 15 s */
	DEADLINE_DIAL,     /* of an address: 5 s */
	DEADLINE_DRAIN,    /* of a connection that is being closed: 5 s */
	DEADLINE_KINDS
};

enum { DEADLINE_DIAL_MS = 5000 };

struct deadline {
	TAILQ_ENTRY(deadline) link;
	enum deadline_kind kind;
	bool armed;
	int64_t at_ms;
	void *data; /* whose it is */
};

typedef void deadline_fn(void *data);
struct deadlines {
	struct loop *loop;
	deadline_fn *passed; /* called with `data`; disarmed before */
	struct deadline_queue {
		struct deadlines *all;
		struct loop_source *timer;
		TAILQ_HEAD(deadline_list, deadline) list;
	} queues[DEADLINE_KINDS];
};
void deadline_init(struct deadlines *d, struct loop *loop, deadline_fn *passed);
void deadline_done(struct deadlines *d);

/* From now on, whatever it was before. */
void deadline_arm(struct deadlines *d, struct deadline *which, enum deadline_kind kind);
void deadline_disarm(struct deadlines *d, struct deadline *which);
