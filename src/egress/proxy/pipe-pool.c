#include "egress/proxy/pipe-pool.h"

#include <fcntl.h>

static void close_both(int pipe[2])
{
	close(TAKE_FD(pipe[0]));
	close(TAKE_FD(pipe[1]));
}

void pipe_pool_done(struct pipe_pool *p)
{
	while (p->n > 0)
		close_both(p->kept[--p->n]);
}

int pipe_pool_take(struct pipe_pool *p, int ret[2])
{
	if (p->n == 0)
		return pipe2(ret, O_CLOEXEC | O_NONBLOCK);
	p->n--;
	ret[0] = p->kept[p->n][0];
	ret[1] = p->kept[p->n][1];
	return 0;
}

void pipe_pool_give(struct pipe_pool *p, int pipe[2], bool empty)
{
	if (pipe[0] < 0)
		return;
	if (!empty || p->n == PIPE_POOL_KEPT) {
		close_both(pipe);
		return;
	}
	p->kept[p->n][0] = TAKE_FD(pipe[0]);
	p->kept[p->n][1] = TAKE_FD(pipe[1]);
	p->n++;
}
