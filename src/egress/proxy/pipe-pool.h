/* Pipes that bytes pass through on their way by splice(2): held only while bytes are in one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

enum { PIPE_POOL_KEPT = 32 };

struct pipe_pool {
	int kept[PIPE_POOL_KEPT][2];
	unsigned n, open; /* open: kept, and in use */
	bool scarce;      /* descriptors are: no further one is made */
};
/* Closes what is kept; it can be used again. */
void pipe_pool_done(struct pipe_pool *p);
/* An empty one, non-blocking. -1: there are no descriptors left for it. */
must_check int pipe_pool_take(struct pipe_pool *p, int ret[2]);
/* Descriptors of all its pipes, in use or kept. */
size_t pipe_pool_fds(const struct pipe_pool *p);
/* Leaves -1 in pipe; one that is not empty is closed. */
void pipe_pool_give(struct pipe_pool *p, int pipe[2], bool empty);
