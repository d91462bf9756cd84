/*
 * What the owner of a proxy is told (network.md §12.4): one JSON object a line into a pipe. A
 * reader that does not read costs memory up to EVENT_BYTES_MAX; what does not fit is counted in the
 * next line that does.
 */
#pragma once

#include "egress/decide.h"
#include "sys/loop.h"

enum { EVENT_BYTES_MAX = 1 << 20 };

struct event_log {
	struct loop *loop;
	int fd; /* -1: nobody reads */
	struct loop_source *source;
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
};
void event_log_add(struct event_log *l, const struct event *e);
