#include "egress/proxy/flow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

enum {
	ROUNDS = 8,    /* then others have their turn */
	SHORT = 16384, /* less than that: there is no more at the moment */
};

uint64_t flow_left(const struct meter *m)
{
	if (!m || m->budget == 0)
		return UINT64_MAX;
	return m->used < m->budget ? m->budget - m->used : 0;
}

void flow_init(struct flow *f, struct pipe_pool *pool, size_t out_max)
{
	*f = (struct flow){.pool = pool, .out = STR_INIT(out_max), .pipe = {-1, -1}};
}

void flow_rest(struct flow *f)
{
	if (f->piped == 0)
		pipe_pool_give(f->pool, f->pipe, true);
	if (f->out_at == f->out.len) {
		str_done(&f->out);
		f->out_at = 0;
	}
}

void flow_done(struct flow *f)
{
	pipe_pool_give(f->pool, f->pipe, f->piped == 0);
	f->piped = 0;
	str_done(&f->out);
	f->out_at = 0;
}

size_t flow_waiting(const struct flow *f)
{
	return f->out.len - f->out_at + f->piped;
}

static size_t allowed(const struct flow *f, uint64_t n)
{
	uint64_t left = flow_left(f->meter);

	n = n < left ? n : left;
	return n < FLOW_BYTES_MAX ? (size_t)n : FLOW_BYTES_MAX;
}

/* Charges before the write, and gives back what was not written. */
static ssize_t write_some(struct flow *f, int to, size_t n)
{
	ssize_t done;

	if (f->meter)
		f->meter->used += n;
	if (f->out_at < f->out.len)
		done = send(to, f->out.data + f->out_at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	else
		done = splice(f->pipe[0], NULL, to, NULL, n, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (f->meter)
		f->meter->used -= n - (done > 0 ? (size_t)done : 0);
	return done;
}

static void written(struct flow *f, size_t n)
{
	f->written += n;
	if (f->out_at == f->out.len) {
		f->piped -= n;
		return;
	}
	f->out_at += n;
	if (f->out_at < f->out.len)
		return;
	f->out_at = 0;
	str_reset(&f->out);
}

enum flow_result flow_flush(struct flow *f, int to)
{
	while (flow_waiting(f) > 0) {
		size_t buffered = f->out.len - f->out_at;
		size_t n = allowed(f, buffered > 0 ? buffered : f->piped);
		if (n == 0)
			return FLOW_USED_UP;
		ssize_t done = write_some(f, to, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno == EAGAIN ? FLOW_AGAIN : FLOW_BROKEN;
		written(f, (size_t)done);
	}
	return FLOW_DONE;
}

/* Where there is no descriptor for a pipe. */
static enum flow_result fill_buffer(struct flow *f, int from, size_t n, size_t *ret)
{
	size_t room = n < f->out.max ? n : f->out.max;
	char *to = str_reserve(&f->out, room);
	size_t held = f->out.cap - f->out.len - 1;
	ssize_t got = recv(from, to, held < room ? held : room, MSG_DONTWAIT);

	if (got > 0) {
		f->out.len += (size_t)got;
		*ret = (size_t)got;
		return FLOW_DONE;
	}
	bool again = got < 0 && (errno == EAGAIN || errno == EINTR);
	flow_rest(f);
	return got == 0 ? FLOW_END : again ? FLOW_AGAIN : FLOW_BROKEN;
}

enum flow_result flow_fill(struct flow *f, int from, uint64_t max, size_t *ret)
{
	size_t n = allowed(f, max);

	if (n == 0)
		return FLOW_USED_UP;
	if (f->pipe[0] < 0 && pipe_pool_take(f->pool, f->pipe) < 0)
		return fill_buffer(f, from, n, ret);
	ssize_t got = splice(from, NULL, f->pipe[1], NULL, n, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return FLOW_BROKEN;
	if (got > 0) {
		f->piped += (size_t)got;
		*ret = (size_t)got;
		return FLOW_DONE;
	}
	flow_rest(f);
	return got == 0 ? FLOW_END : FLOW_AGAIN;
}

/* At zero left the connection is cut, whether or not more would come. */
static enum flow_result flush_within(struct flow *f, int to)
{
	enum flow_result r = flow_flush(f, to);

	return r == FLOW_DONE && flow_left(f->meter) == 0 ? FLOW_USED_UP : r;
}

enum flow_result flow_pump(struct flow *f, int from, int to)
{
	size_t n;

	for (int i = 0; i < ROUNDS || f->ended; i++) {
		enum flow_result r = flush_within(f, to);
		if (r != FLOW_DONE)
			return r;
		if (f->ended) {
			if (!f->shut)
				shutdown(to, SHUT_WR);
			f->shut = true;
			flow_rest(f);
			return FLOW_DONE;
		}
		r = flow_fill(f, from, UINT64_MAX, &n);
		if (r == FLOW_AGAIN)
			return FLOW_DONE;
		if (r == FLOW_END)
			f->ended = true;
		else if (r != FLOW_DONE)
			return r;
		else if (n < SHORT)
			break;
	}
	enum flow_result r = flush_within(f, to);
	if (r == FLOW_DONE)
		flow_rest(f);
	return r;
}
