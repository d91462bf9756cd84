/* To the vetted addresses, in their order; nothing is looked up again (network.md §13.4). */
#include "egress/proxy/conn.h"

#include <errno.h>

#include "egress/socket-address.h"
#include "sys/clock.h"

static int dial(struct conn *c, const struct address *a, uint16_t port)
{
	struct proxy_hooks *hooks = &c->proxy->hooks;
	struct sockaddr_storage to;

	if (hooks->dial)
		return hooks->dial(hooks->data, a, port);
	socklen_t len = socket_address_make(a, port, &to);
	auto_fd int fd = socket(a->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || (connect(fd, (struct sockaddr *)&to, len) < 0 && errno != EINPROGRESS))
		return -1;
	return TAKE_FD(fd);
}

void dial_gave_up(struct conn *c)
{
	conn_close_upstream(c);
	conn_run(c);
}

static void took_too_long(void *data)
{
	struct conn *c = data;

	c->x->dial_timer = NULL;
	dial_gave_up(c);
}

static void forget_timers(struct conn *c)
{
	loop_remove(TAKE_PTR(c->x->dial_timer));
	deadline_disarm(&c->proxy->deadlines, &c->deadline);
}

/* False: there is none left, or no time. */
static bool next_address(struct conn *c)
{
	struct exchange *x = c->x;
	int64_t now = clock_boottime_ms();

	while (x->next_address < x->n_addresses && now < x->dial_until_ms) {
		int fd = dial(c, &x->addresses[x->next_address++], x->to.port);
		if (fd < 0 || !conn_attach_upstream(c, fd))
			continue;
		if (x->dial_until_ms - now < DEADLINE_DIAL_MS)
			x->dial_timer = loop_at(c->proxy->loop, x->dial_until_ms, took_too_long, c);
		else
			deadline_arm(&c->proxy->deadlines, &c->deadline, DEADLINE_DIAL);
		return true;
	}
	return false;
}

enum step dial_begin(struct conn *c)
{
	c->x->next_address = 0;
	c->x->dial_until_ms = clock_boottime_ms() + INT64_C(1000) * c->session->s.dial_timeout_s;
	c->state = CONN_DIAL;
	return STEP_AGAIN;
}

/* 1: it is; 0: not yet; -1: it has failed, or there is none. */
static int connected(const struct conn_end *e)
{
	socklen_t size = sizeof(int);
	int problem = 0;

	if (e->fd < 0)
		return -1;
	if ((e->ready & (EPOLLOUT | EPOLLHUP | EPOLLERR)) == 0)
		return 0;
	if (getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &problem, &size) < 0 || problem != 0)
		return -1;
	return 1;
}

enum step dial_run(struct conn *c)
{
	int r = connected(&c->upstream);

	if (r != 0)
		forget_timers(c);
	if (r < 0) {
		conn_close_upstream(c);
		if (!next_address(c))
			return conn_refuse(c, EGRESS_VERDICT_DIAL, NULL);
	}
	if (r <= 0) {
		conn_wants(c, 0, EPOLLOUT);
		return STEP_WAIT;
	}
	c->to = c->x->to;
	return c->x->connect ? tunnel_begin(c) : relay_begin(c);
}
