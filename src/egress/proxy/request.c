/* The first half of a request: its head, credentials, the decision, the look-up. */
#include "egress/proxy/conn.h"

#include "base/mem.h"
#include "egress/proxy/forward.h"
#include "egress/proxy/listener.h"

enum { HEAD_RECEIVE = 4000 }; /* of most heads, all */

/* ---- The head ---- */

/* Where the head ends, with its empty line; 0: it is not all there. */
static size_t head_end(struct conn *c)
{
	size_t from = c->scanned > 3 ? c->scanned - 3 : 0;
	const char *at = c->in.len > from
				 ? memmem(c->in.data + from, c->in.len - from, "\r\n\r\n", 4)
				 : NULL;

	return at ? (size_t)(at - c->in.data) + 4 : 0;
}

/* What is there so far is the beginning of no head. Scanned once. */
static bool hopeless(struct conn *c)
{
	const char *in = c->in.data;

	if (c->in.len > 0 && !ascii_upper(in[0]))
		return true;
	for (size_t i = c->scanned; i < c->in.len; i++)
		if (in[i] == '\0' || (in[i] == '\n' && (i == 0 || in[i - 1] != '\r')))
			return true;
	c->scanned = c->in.len;
	if (c->in.len > HTTP_LINE_MAX + 2 && !memchr(in, '\n', HTTP_LINE_MAX + 2))
		return true;
	return c->in.len >= HTTP_HEAD_MAX;
}

/* ---- The decision ---- */

static struct exchange *exchange_new(const struct http_request *r)
{
	struct exchange *x = mem_alloc(sizeof(*x));

	x->to = r->to;
	memcpy(x->method, r->method.p, r->method.len);
	x->connect = text_is(r->method, "CONNECT");
	x->to_head = text_is(r->method, "HEAD");
	x->keep_alive = r->keep_alive;
	x->minor = r->head.minor;
	x->from = x->again = STR_INIT(FLOW_BYTES_MAX);
	conn_begin_body(&x->request_body, &r->head.body);
	return x;
}

static enum egress_verdict judge(struct conn *c, const struct session *s)
{
	struct egress_session_state state = {
		.expired = session_table_expired(s),
		/* Without this one. */
		.connections = s->n_conns - (c->session == s),
		.max_connections = s->s.max_connections,
		.bytes_up = s->up.used,
		.bytes_down = s->down.used,
	};
	struct egress_grant g = s->s.grant;
	struct egress_request r = {c->x->method, c->x->to};

	g.max_bytes_up = s->up.budget;
	g.max_bytes_down = s->down.budget;
	return decide_request(&g, &state, &r, &c->x->pending);
}

static bool upstream_serves(const struct conn *c)
{
	return c->upstream.fd >= 0 && !c->x->connect && c->to.port == c->x->to.port &&
	       strcmp(c->to.host, c->x->to.host) == 0;
}

static void found(void *data, const struct address *addresses, size_t n)
{
	struct conn *c = data;

	c->x->lookup = NULL;
	c->x->resolved = true;
	c->x->n_addresses = n;
	if (n > 0)
		memcpy(c->x->addresses, addresses, n * sizeof(*addresses));
	conn_run(c);
}

static enum step resolve(struct conn *c)
{
	struct exchange *x = c->x;
	struct proxy_hooks *hooks = &c->proxy->hooks;

	c->state = CONN_RESOLVE;
	x->resolved = x->pending.literal || hooks->resolve;
	if (x->pending.literal) {
		x->addresses[0] = x->pending.address;
		x->n_addresses = 1;
	} else if (hooks->resolve) {
		x->n_addresses = hooks->resolve(
			hooks->data, x->to.host, x->addresses, RESOLVER_ADDRESSES_MAX);
	} else {
		deadline_arm(&c->proxy->deadlines, &c->deadline, DEADLINE_RESOLVE);
		x->lookup = resolver_ask(c->proxy->resolver, x->to.host, found, c);
	}
	return STEP_AGAIN;
}

enum step request_resolved(struct conn *c)
{
	struct exchange *x = c->x;
	const struct egress_grant *g = &c->session->s.grant;
	enum egress_verdict v = decide_addresses(g, &x->pending, x->addresses, x->n_addresses);
	const struct address *blocked = NULL;

	if (v == EGRESS_VERDICT_ALLOW)
		return dial_begin(c);
	for (size_t i = 0; v == EGRESS_VERDICT_BLOCKED && i < x->n_addresses && !blocked; i++)
		if (decide_addresses(g, &x->pending, &x->addresses[i], 1) == v)
			blocked = &x->addresses[i];
	return conn_refuse(c, v, blocked);
}

/* The origin may have acted on it before it closed. */
static bool repeatable(const char *method)
{
	static const char *const idempotent[] = {
		"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};

	for (size_t i = 0; i < ARRAY_SIZE(idempotent); i++)
		if (strcmp(method, idempotent[i]) == 0)
			return true;
	return false;
}

static enum step go_on(struct conn *c, size_t head_bytes)
{
	struct proxy *p = c->proxy;

	c->up.written = c->down.written = 0;
	if (!c->x->connect)
		forward_request(&p->request, !c->x->keep_alive, &c->up.out);
	conn_drop(&c->in, head_bytes);
	c->scanned = 0;
	deadline_disarm(&p->deadlines, &c->deadline);
	/* A head is sent whole or not at all. */
	if (flow_left(c->up.meter) < c->up.out.len)
		return conn_refuse(c, EGRESS_VERDICT_QUOTA, NULL);
	if (upstream_serves(c)) {
		c->x->reused = true;
		if (c->x->request_body.kind == HTTP_BODY_NONE && repeatable(c->x->method))
			str_add(&c->x->again, c->up.out.data, c->up.out.len);
		return relay_begin(c);
	}
	conn_close_upstream(c);
	return resolve(c);
}

enum step request_again(struct conn *c)
{
	struct exchange *x = c->x;

	conn_close_upstream(c);
	flow_done(&c->up);
	c->up.out = x->again;
	x->again = STR_INIT(FLOW_BYTES_MAX);
	x->reused = x->upstream_deaf = false;
	return resolve(c);
}

static enum step take(struct conn *c, size_t head_bytes)
{
	struct http_request *r = &c->proxy->request;
	struct text credentials = {0};

	if (!http_head_request((struct text){c->in.data, head_bytes}, r))
		return conn_refuse(c, EGRESS_VERDICT_MALFORMED, NULL);
	c->x = exchange_new(r);
	http_head_find(&r->head, "proxy-authorization", &credentials);
	struct session *s = session_table_find(c->proxy, credentials, c->listener->id);
	if (!s) {
		conn_bind(c, NULL);
		return conn_refuse(c, EGRESS_VERDICT_UNAUTHENTICATED, NULL);
	}
	enum egress_verdict v = judge(c, s);
	/* What one session was allowed to reach is no other's. */
	if (c->session != s)
		conn_close_upstream(c);
	conn_bind(c, s);
	if (v != EGRESS_VERDICT_ALLOW)
		return conn_refuse(c, v, NULL);
	return go_on(c, head_bytes);
}

/* An origin that says something, or goes, between two requests. */
static void look_at_idle_upstream(struct conn *c)
{
	char byte;

	if (c->upstream.fd >= 0 && c->upstream.ready &&
		recv(c->upstream.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		conn_close_upstream(c);
}

enum step request_run(struct conn *c)
{
	look_at_idle_upstream(c);
	for (;;) {
		size_t end = head_end(c);
		if (end > 0)
			return take(c, end);
		if (hopeless(c))
			return conn_refuse(c, EGRESS_VERDICT_MALFORMED, NULL);
		bool began = c->in.len > 0;
		enum flow_result r = conn_receive(c->client.fd, &c->in, HEAD_RECEIVE);
		if (r == FLOW_AGAIN)
			break;
		if (r != FLOW_DONE)
			return STEP_CLOSE;
		if (c->served && !began)
			deadline_arm(&c->proxy->deadlines, &c->deadline, DEADLINE_HEAD);
	}
	if (c->in.len == 0)
		str_done(&c->in);
	conn_wants(c, EPOLLIN, c->upstream.fd >= 0 ? EPOLLIN : 0);
	return STEP_WAIT;
}
