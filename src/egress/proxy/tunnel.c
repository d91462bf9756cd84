/* Both directions as they are; no TLS is opened (network.md §13.5). */
#include "egress/proxy/conn.h"

#include <sys/socket.h>

#define ESTABLISHED \
	"HTTP/1.1 200 Connection established\r\n" \
	"X-Cloop-Egress-Verdict: allow\r\n\r\n"

enum step tunnel_begin(struct conn *c)
{
	struct meter *meter = c->down.meter;

	conn_event(c, EGRESS_VERDICT_ALLOW, NULL);
	conn_end_exchange(c);
	c->state = CONN_TUNNEL;
	/* Our own answer costs nothing; what came with the request goes first. */
	c->down.meter = NULL;
	str_add_text(&c->down.out, ESTABLISHED);
	if (flow_flush(&c->down, c->client.fd) != FLOW_DONE)
		return STEP_CLOSE;
	c->down.meter = meter;
	c->down.written = 0;
	flow_rest(&c->down);
	str_add(&c->up.out, str_text(&c->in), c->in.len);
	str_done(&c->in);
	return STEP_AGAIN;
}

/* What waits for the client beyond its budget is not delivered. */
static enum step used_up(struct conn *c, bool down)
{
	conn_event(c, EGRESS_VERDICT_QUOTA, "mid-tunnel");
	if (down)
		flow_done(&c->down);
	return conn_drain(c);
}

enum step tunnel_run(struct conn *c)
{
	struct flow *up = &c->up, *down = &c->down;
	enum flow_result u = FLOW_DONE, d = FLOW_DONE;

	if (conn_readable(&c->client) || flow_waiting(up) > 0)
		u = flow_pump(up, c->client.fd, c->upstream.fd);
	if (conn_readable(&c->upstream) || flow_waiting(down) > 0)
		d = flow_pump(down, c->upstream.fd, c->client.fd);

	if (u == FLOW_USED_UP || d == FLOW_USED_UP)
		return used_up(c, d == FLOW_USED_UP);
	if (u == FLOW_BROKEN || d == FLOW_BROKEN || (up->shut && down->shut))
		return STEP_CLOSE;
	bool up_waits = flow_waiting(up) > 0, down_waits = flow_waiting(down) > 0;
	conn_wants(c, (up_waits || up->ended ? 0 : EPOLLIN) | (down_waits ? EPOLLOUT : 0),
		(down_waits || down->ended ? 0 : EPOLLIN) | (up_waits ? EPOLLOUT : 0));
	return STEP_WAIT;
}
