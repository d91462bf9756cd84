/*
 * Bytes from one socket to another, one direction (network.md §13.6). A budget is charged before a
 * write: no call ever asks for more than is left of it. What waits is at most FLOW_BYTES_MAX in a
 * buffer, or a pipe's worth; an idle flow holds neither.
 */
#pragma once

#include "egress/proxy/pipe-pool.h"
#include "base/str.h"

#include <stdint.h>

enum { FLOW_BYTES_MAX = 65536 };

/* A session's bytes in one direction. */
struct meter {
	uint64_t used, budget; /* 0: no limit */
};
/* UINT64_MAX: no limit. */
uint64_t flow_left(const struct meter *m);

enum flow_result {
	FLOW_DONE,    /* all is written; something was read */
	FLOW_AGAIN,   /* the socket is not ready */
	FLOW_END,     /* nothing more will come */
	FLOW_USED_UP, /* bytes wait, and the budget has none left for them */
	FLOW_BROKEN,  /* the socket has failed */
};

struct flow {
	struct pipe_pool *pool;
	struct meter *meter; /* NULL: bytes of our own, which cost nothing */
	struct str out;      /* written before what is in the pipe */
	size_t out_at;       /* how much of it was */
	int pipe[2];
	size_t piped;
	uint64_t written;
	bool ended; /* the end was read */
	bool shut;  /* and passed on */
};
void flow_init(struct flow *f, struct pipe_pool *pool, size_t out_max);
/* Drops what was not written. */
void flow_done(struct flow *f);

size_t flow_waiting(const struct flow *f);
/* Writes what waits. */
enum flow_result flow_flush(struct flow *f, int to);
/* Moves at most `max` bytes from the socket into the pipe, or without one the buffer; nothing
 * waits before. *ret: how many. */
enum flow_result flow_fill(struct flow *f, int from, uint64_t max, size_t *ret);
/* Both, until a socket is not ready, or for a while; the end is passed on. FLOW_DONE, _AGAIN. */
enum flow_result flow_pump(struct flow *f, int from, int to);
/* Gives memory and pipe back while nothing waits. */
void flow_rest(struct flow *f);
