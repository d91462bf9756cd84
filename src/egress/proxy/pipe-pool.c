#include "egress/proxy/pipe-pool.h"

#include <fcntl.h>

static void close_both(struct pipe_pool *p, int pipe[2])
{
	p->open--;
	close(TAKE_FD(pipe[0]));
	close(TAKE_FD(pipe[1]));
}

void pipe_pool_done(struct pipe_pool *p)
{
	while (p->n > 0)
		close_both(p, p->kept[--p->n]);
}

size_t pipe_pool_fds(const struct pipe_pool *p)
{
	return 2 * (size_t)p->open;
}

int pipe_pool_take(struct pipe_pool *p, int ret[2])
{
	if (p->n == 0) {
		if (p->scarce || pipe2(ret, O_CLOEXEC | O_NONBLOCK) < 0)
			return -1;
		p->open++;
		return 0;
	}
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
		close_both(p, pipe);
		return;
	}
	p->kept[p->n][0] = TAKE_FD(pipe[0]);
	p->kept[p->n][1] = TAKE_FD(pipe[1]);
	p->n++;
}
