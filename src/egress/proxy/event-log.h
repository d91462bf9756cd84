/*
 * What the owner of a proxy is told (network.md §12.4): one JSON object a line into a pipe. A
 * reader that does not read costs memory up to EVENT_BYTES_MAX; what does not fit is counted in the
 * next line that does. Requests that were allowed are told together, at most EVENT_WAIT_MS later:
 * thousands of them a second would else wake the reader as often.
 */
#pragma once

#include "egress/decide.h"
#include "sys/loop.h"

enum { EVENT_BYTES_MAX = 1 << 20, EVENT_WAIT_MS = 20 };

struct event_log {
	struct loop *loop;
	int fd;                     /* -1: nobody reads */
	struct loop_source *source; /* while the pipe is full */
	struct loop_source *timer;  /* while rows wait for others */
	struct str pending;
	uint64_t lost;
};
/* The descriptor is the log's. */
void event_log_init(struct event_log *l, struct loop *loop, int fd);
/* Writes what still goes without waiting, and closes. */
void event_log_done(struct event_log *l);

struct event {
	const char *action; /* "egress.connect" */
	enum egress_verdict verdict;
	/* Members that are the same in all rows of a session, rendered: "" or `,"grant_id":…`. */
	const char *session;
	const struct authority *to;    /* NULL: none */
	const struct address *address; /* of a blocked answer; NULL: none */
	uint64_t bytes_up, bytes_down;
	const char *reason; /* a sentence of ours; NULL: none. No outsider's bytes */
	bool can_wait;
};
void event_log_add(struct event_log *l, const struct event *e);
