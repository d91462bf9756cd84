/*
 * Level-triggered. An end is watched for what its state wants; what it is watched for beyond that
 * is only taken away when it is reported, so that a connection that alternates between reading and
 * writing costs no epoll_ctl() each time. An end that nothing is wanted of is not watched at all:
 * EPOLLHUP could not be masked. So a client that goes away meanwhile is noticed at the next write,
 * or at the deadline of what is waited for.
 *
 * A state's function never frees the connection; it answers STEP_CLOSE, and conn_run() does.
 */
#include "egress/proxy/conn.h"

#include <errno.h>
#include <netinet/tcp.h>

#include "base/mem.h"
#include "egress/proxy/listener.h"
#include "egress/proxy/refusal.h"

enum { DRAIN_ROUNDS = 4 };

/* ---- Ends ---- */

static void client_ready(void *data, uint32_t events);
static void upstream_ready(void *data, uint32_t events);

static bool watch(struct conn *c, struct conn_end *e, uint32_t events)
{
	if (e->source && events == 0) {
		loop_remove(TAKE_PTR(e->source));
	} else if (e->source) {
		loop_change(e->source, events);
	} else if (events != 0) {
		e->source = loop_watch(c->proxy->loop, e->fd, events,
			e == &c->client ? client_ready : upstream_ready, c);
	}
	e->watched = events;
	return events == 0 || e->source;
}

static void want(struct conn *c, struct conn_end *e, uint32_t events)
{
	e->wanted = events;
	if (e->fd >= 0 && (events & ~e->watched) != 0 && !watch(c, e, events))
		c->unheard = true;
}

void conn_wants(struct conn *c, uint32_t client, uint32_t upstream)
{
	want(c, &c->client, client);
	want(c, &c->upstream, upstream);
}

static void close_end(struct conn *c, struct conn_end *e)
{
	loop_remove(TAKE_PTR(e->source));
	e->watched = e->wanted = 0;
	if (e->fd < 0)
		return;
	close(TAKE_FD(e->fd));
	listener_closed_one(c->proxy);
}

bool conn_attach_upstream(struct conn *c, int fd)
{
	int on = 1;

	listener_opened_one(c->proxy);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->upstream = (struct conn_end){.fd = fd, .wanted = EPOLLOUT};
	if (watch(c, &c->upstream, EPOLLOUT))
		return true;
	close_end(c, &c->upstream);
	return false;
}

void conn_close_upstream(struct conn *c)
{
	close_end(c, &c->upstream);
}

/* ---- Life ---- */

void conn_new(struct listener *l, int fd, const struct address *peer)
{
	struct conn *c = mem_alloc(sizeof(*c));
	struct proxy *p = l->proxy;

	*c = (struct conn){.proxy = p,
		.listener = l,
		.peer = *peer,
		.client = {.fd = fd},
		.upstream = {.fd = -1},
		.in = STR_INIT(FLOW_BYTES_MAX)};
	c->deadline.data = c;
	flow_init(&c->up, &p->pipes, FLOW_BYTES_MAX);
	flow_init(&c->down, &p->pipes, FLOW_BYTES_MAX);
	LIST_INSERT_HEAD(&l->conns, c, of_listener);
	listener_opened_one(p);
	listener_unknown(p, true);
	deadline_arm(&p->deadlines, &c->deadline, DEADLINE_HEAD);
	conn_run(c);
}

void conn_bind(struct conn *c, struct session *s)
{
	if (c->session == s)
		return;
	if (!c->session || !s)
		listener_unknown(c->proxy, !s);
	if (c->session) {
		LIST_REMOVE(c, of_session);
		c->session->n_conns--;
	}
	c->session = s;
	c->up.meter = s ? &s->up : NULL;
	c->down.meter = s ? &s->down : NULL;
	if (s) {
		LIST_INSERT_HEAD(&s->conns, c, of_session);
		s->n_conns++;
	}
}

void conn_end_exchange(struct conn *c)
{
	struct exchange *x = TAKE_PTR(c->x);

	if (!x)
		return;
	resolver_forget(x->lookup);
	loop_remove(x->dial_timer);
	str_done(&x->from);
	str_done(&x->again);
	free(x);
}

static void conn_free(struct conn *c)
{
	conn_end_exchange(c);
	conn_bind(c, NULL);
	listener_unknown(c->proxy, false);
	deadline_disarm(&c->proxy->deadlines, &c->deadline);
	LIST_REMOVE(c, of_listener);
	flow_done(&c->up);
	flow_done(&c->down);
	str_done(&c->in);
	close_end(c, &c->upstream);
	close_end(c, &c->client);
	free(c);
}

static bool is_tunnel(const struct conn *c)
{
	return c->state == CONN_TUNNEL || (c->x && c->x->connect);
}

static struct event event_of(const struct conn *c, enum egress_verdict v)
{
	return (struct event){.action = is_tunnel(c) ? "egress.connect" : "egress.request",
		.verdict = v,
		.session = c->session ? c->session->members : "",
		.to = c->x ? &c->x->to : NULL,
		.bytes_up = c->up.written,
		.bytes_down = c->down.written};
}

void conn_event(struct conn *c, enum egress_verdict v, const char *reason)
{
	struct event e = event_of(c, v);

	if (!e.to)
		e.to = &c->to;
	e.reason = reason;
	e.can_wait = !is_tunnel(c) && v == EGRESS_VERDICT_ALLOW;
	event_log_add(&c->proxy->events, &e);
}

/* By one of its ends. A tunnel has had its row, and before there is an upstream nothing was
 * allowed. */
static void abandon(struct conn *c)
{
	if (c->state == CONN_RELAY)
		conn_event(c, EGRESS_VERDICT_ALLOW, "ended early");
	conn_free(c);
}

void conn_cut(struct conn *c, enum egress_verdict verdict)
{
	if (c->state == CONN_TUNNEL)
		conn_event(c, verdict, "mid-tunnel");
	else if (c->x)
		conn_event(c, verdict, "mid-request");
	conn_free(c);
}

/* ---- Refusals ---- */

static void refusal_event(struct conn *c, enum egress_verdict v, const struct address *blocked)
{
	struct event e = event_of(c, v);

	if (!c->session) {
		stranger_seen(&c->proxy->strangers, &c->peer, v);
		return;
	}
	e.address = blocked;
	event_log_add(&c->proxy->events, &e);
}

enum step conn_refuse(struct conn *c, enum egress_verdict v, const struct address *blocked)
{
	struct refusal r = {.verdict = v, .to_head = c->x && c->x->to_head};

	if (c->session && c->x) {
		r.grant = &c->session->s.grant;
		r.to = &c->x->to;
		r.method = c->x->method;
	}
	refusal_event(c, v, blocked);
	flow_done(&c->down);
	refusal_write(&r, &c->down.out);
	return conn_drain(c);
}

enum step conn_drain(struct conn *c)
{
	conn_close_upstream(c);
	conn_end_exchange(c);
	conn_bind(c, NULL);
	flow_done(&c->up);
	str_done(&c->in);
	c->state = CONN_DRAIN;
	deadline_arm(&c->proxy->deadlines, &c->deadline, DEADLINE_DRAIN);
	return STEP_AGAIN;
}

static enum step drain_run(struct conn *c)
{
	enum flow_result r = flow_flush(&c->down, c->client.fd);

	if (r == FLOW_BROKEN)
		return STEP_CLOSE;
	conn_wants(c, r == FLOW_AGAIN ? EPOLLOUT : EPOLLIN, 0);
	if (r == FLOW_AGAIN)
		return STEP_WAIT;
	if (!c->down.shut)
		shutdown(c->client.fd, SHUT_WR);
	c->down.shut = true;
	for (int i = 0; i < DRAIN_ROUNDS; i++) {
		ssize_t n = recv(
			c->client.fd, c->proxy->scratch, sizeof(c->proxy->scratch), MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return STEP_WAIT;
		if (n <= 0)
			return STEP_CLOSE;
	}
	return STEP_WAIT;
}

/* ---- Running ---- */

static enum step resolve_run(struct conn *c)
{
	conn_wants(c, 0, 0);
	return c->x->resolved ? request_resolved(c) : STEP_WAIT;
}

void conn_run(struct conn *c)
{
	static enum step (*const states[CONN_STATES])(struct conn *) = {
		[CONN_REQUEST] = request_run,
		[CONN_RESOLVE] = resolve_run,
		[CONN_DIAL] = dial_run,
		[CONN_RELAY] = relay_run,
		[CONN_TUNNEL] = tunnel_run,
		[CONN_DRAIN] = drain_run,
	};
	enum step s;

	do
		s = states[c->state](c);
	while (s == STEP_AGAIN);
	c->client.ready = c->upstream.ready = 0;
	listener_count(c->proxy);
	if (s == STEP_CLOSE || c->unheard)
		abandon(c);
}

bool conn_readable(const struct conn_end *e)
{
	return (e->ready & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
}

static void ready(struct conn *c, struct conn_end *e, uint32_t events)
{
	e->ready = events;
	if ((events & e->wanted) == 0 && (e->wanted == 0 || !(events & (EPOLLHUP | EPOLLERR)))) {
		watch(c, e, e->wanted);
		return;
	}
	conn_run(c);
}

static void client_ready(void *data, uint32_t events)
{
	struct conn *c = data;

	if (events & EPOLLERR)
		abandon(c);
	else
		ready(c, &c->client, events);
}

static void upstream_ready(void *data, uint32_t events)
{
	struct conn *c = data;

	ready(c, &c->upstream, events);
}

void conn_deadline(void *data)
{
	struct conn *c = data;

	if (c->state == CONN_DIAL) {
		dial_gave_up(c);
	} else if (c->state == CONN_RELAY) {
		relay_fail(c, EGRESS_VERDICT_BAD_UPSTREAM);
		conn_run(c);
	} else if (c->state == CONN_RESOLVE) {
		conn_refuse(c, EGRESS_VERDICT_RESOLVE, NULL);
		conn_run(c);
	} else {
		conn_free(c);
	}
}

/* ---- Bytes ---- */

void conn_begin_body(struct body *b, const struct http_body *what)
{
	*b = (struct body){.kind = what->kind, .left = what->length};
	b->done = b->kind == HTTP_BODY_NONE || (b->kind == HTTP_BODY_LENGTH && b->left == 0);
}

void conn_drop(struct str *s, size_t n)
{
	s->len -= n;
	if (s->len == 0)
		str_done(s);
	else
		memmove(s->data, s->data + n, s->len + 1);
}

enum flow_result conn_receive(int fd, struct str *into, size_t want)
{
	size_t room = into->max - into->len;
	char *to = str_reserve(into, room < want ? room : want);
	size_t held = into->cap - into->len - 1;

	room = held < room ? held : room;
	if (room == 0)
		return FLOW_AGAIN;
	ssize_t n = recv(fd, to, room, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? FLOW_AGAIN : FLOW_BROKEN;
	if (n == 0)
		return FLOW_END;
	into->len += (size_t)n;
	return FLOW_DONE;
}
