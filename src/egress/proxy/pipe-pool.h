/* Pipes that bytes pass through on their way by splice(2): held only while bytes are in one. */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"

enum { PIPE_POOL_KEPT = 32 };

struct pipe_pool {
	int kept[PIPE_POOL_KEPT][2];
	unsigned n;
};
void pipe_pool_done(struct pipe_pool *p);
/* An empty one, non-blocking. -1 with errno: there are no descriptors left. */
must_check int pipe_pool_take(struct pipe_pool *p, int ret[2]);
/* Leaves -1 in pipe; one that is not empty is closed. */
void pipe_pool_give(struct pipe_pool *p, int pipe[2], bool empty);
