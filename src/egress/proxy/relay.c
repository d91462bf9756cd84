/*
 * Plain HTTP: the request goes out, the answer comes back, both at the same time, since an origin
 * may answer before it has read all. Heads are written anew and chunks framed anew; of other bodies
 * what did not come with a head is spliced.
 */
#include "egress/proxy/conn.h"
#include "egress/proxy/forward.h"

enum { ROUNDS = 32, INTERIM_MAX = 8, HEAD_RECEIVE = 8000, CHUNKS_RECEIVE = 32000 };

/* How one direction stands. */
enum part {
	PART_WAITS,
	PART_TURN, /* could go on, but others have their turn */
	PART_DONE,
	PART_AGAIN, /* the origin had closed a kept connection before it saw the request */
	PART_USED_UP,
	PART_MALFORMED,
	PART_BAD_UPSTREAM,
	PART_SHORT, /* somebody went away too early */
};

enum step relay_begin(struct conn *c)
{
	c->state = CONN_RELAY;
	deadline_arm(&c->proxy->deadlines, &c->deadline, DEADLINE_UPSTREAM);
	return STEP_AGAIN;
}

/* ---- Bodies ---- */

static bool move_buffered(struct body *b, struct str *in, struct flow *f)
{
	struct text bytes = {in->data, in->len};
	size_t n = bytes.len;

	if (b->kind == HTTP_BODY_CHUNKED) {
		if (!chunk_read(&b->chunks, bytes, &n, &f->out))
			return false;
		b->done = b->chunks.state == CHUNK_END;
	} else {
		size_t room = f->out.max - f->out.len;
		n = n < room ? n : room;
		if (b->kind == HTTP_BODY_LENGTH) {
			n = n < b->left ? n : (size_t)b->left;
			b->left -= n;
			b->done = b->left == 0;
		}
		str_add(&f->out, bytes.p, n);
	}
	conn_drop(in, n);
	return true;
}

/* Some more of a body, nothing of which waits: from what came with the head, then the socket. */
static enum flow_result move(struct body *b, int from, struct str *in, struct flow *f)
{
	uint64_t max = b->kind == HTTP_BODY_LENGTH ? b->left : UINT64_MAX;
	size_t n = 0;

	if (b->kind == HTTP_BODY_CHUNKED)
		return conn_receive(from, in, CHUNKS_RECEIVE);
	enum flow_result r = flow_fill(f, from, max, &n);
	if (r == FLOW_DONE && b->kind == HTTP_BODY_LENGTH) {
		b->left -= n;
		b->done = b->left == 0;
	}
	return r;
}

/* What a piece of a body comes to; its end is the caller's to judge. */
static enum part part_of(enum flow_result r)
{
	switch (r) {
	case FLOW_DONE:
		return PART_DONE;
	case FLOW_AGAIN:
		return PART_WAITS;
	case FLOW_USED_UP:
		return PART_USED_UP;
	default:
		return PART_SHORT;
	}
}

/* ---- The request ---- */

static enum part send_body(struct conn *c)
{
	struct body *b = &c->x->request_body;

	if (c->in.len > 0)
		return move_buffered(b, &c->in, &c->up) ? PART_DONE : PART_MALFORMED;
	if (!conn_readable(&c->client))
		return PART_WAITS;
	return part_of(move(b, c->client.fd, &c->in, &c->up));
}

static enum part send_request(struct conn *c)
{
	struct exchange *x = c->x;
	enum part part = PART_DONE;

	if (x->upstream_deaf)
		return PART_DONE;
	/* In one write with the head. */
	if (c->up.written == 0 && c->in.len > 0 && !x->request_body.done)
		part = send_body(c);
	for (int i = 0; i < ROUNDS && part == PART_DONE; i++) {
		enum flow_result r = flow_flush(&c->up, c->upstream.fd);
		if (r == FLOW_AGAIN)
			return PART_WAITS;
		if (r == FLOW_USED_UP)
			return PART_USED_UP;
		if (r == FLOW_BROKEN) {
			/* It may have answered nevertheless. */
			x->upstream_deaf = true;
			flow_done(&c->up);
			return PART_DONE;
		}
		if (x->request_body.done)
			return PART_DONE;
		part = send_body(c);
	}
	return part == PART_DONE ? PART_TURN : part;
}

/* ---- The answer ---- */

static enum part pass_body(struct conn *c)
{
	struct exchange *x = c->x;
	struct body *b = &x->response_body;

	if (x->from.len > 0)
		return move_buffered(b, &x->from, &c->down) ? PART_DONE : PART_SHORT;
	if (!conn_readable(&c->upstream))
		return PART_WAITS;
	enum flow_result r = move(b, c->upstream.fd, &x->from, &c->down);
	if (r == FLOW_END && b->kind == HTTP_BODY_CLOSE) {
		b->done = true;
		return PART_DONE;
	}
	return part_of(r);
}

static enum part take_head(struct conn *c, size_t bytes)
{
	struct http_response *r = &c->proxy->response;
	struct exchange *x = c->x;
	struct text raw = {x->from.data, bytes};

	if (!http_head_response(raw, x->to_head, r))
		return PART_BAD_UPSTREAM;
	struct forward_answer how = {.line = forward_line(raw),
		.minor = x->minor,
		.close = !x->keep_alive || r->head.body.kind == HTTP_BODY_CLOSE,
		.verdict = egress_verdict_text(EGRESS_VERDICT_ALLOW)};
	if (r->status < 200 && ++x->interim > INTERIM_MAX)
		return PART_BAD_UPSTREAM;
	if (r->status >= 200 || x->minor > 0)
		forward_response(r, &how, &c->down.out);
	if (flow_left(c->down.meter) < c->down.out.len)
		return PART_USED_UP;
	conn_drop(&x->from, bytes);
	if (r->status < 200)
		return PART_DONE;
	x->responded = true;
	x->keep_alive = !how.close;
	x->upstream_stays = r->head.minor == 1 && r->head.body.kind != HTTP_BODY_CLOSE &&
			    !http_head_lists(&r->head, "connection", TEXT("close"));
	conn_begin_body(&x->response_body, &r->head.body);
	x->response_body.chunks.bare = x->minor == 0;
	deadline_disarm(&c->proxy->deadlines, &c->deadline);
	/* In one write with the head. */
	if (x->from.len > 0 && !x->response_body.done)
		return pass_body(c);
	return PART_DONE;
}

static enum part read_head(struct conn *c)
{
	struct str *from = &c->x->from;
	const char *end = from->len > 0 ? memmem(from->data, from->len, "\r\n\r\n", 4) : NULL;

	if (end)
		return take_head(c, (size_t)(end - from->data) + 4);
	if (from->len >= HTTP_HEAD_MAX)
		return PART_BAD_UPSTREAM;
	if (!conn_readable(&c->upstream))
		return PART_WAITS;
	switch (conn_receive(c->upstream.fd, from, HEAD_RECEIVE)) {
	case FLOW_DONE:
		return PART_DONE;
	case FLOW_AGAIN:
		return PART_WAITS;
	default:
		return from->len == 0 && c->x->again.len > 0 ? PART_AGAIN : PART_BAD_UPSTREAM;
	}
}

static enum part pass_answer(struct conn *c)
{
	struct exchange *x = c->x;
	enum part part = PART_DONE;

	for (int i = 0; i < ROUNDS && part == PART_DONE; i++) {
		enum flow_result r = flow_flush(&c->down, c->client.fd);
		if (r != FLOW_DONE)
			return r == FLOW_AGAIN     ? PART_WAITS
			       : r == FLOW_USED_UP ? PART_USED_UP
						   : PART_SHORT;
		if (x->responded && x->response_body.done)
			return PART_DONE;
		part = x->responded ? pass_body(c) : read_head(c);
	}
	return part == PART_DONE ? PART_TURN : part;
}

/* ---- Its end ---- */

static enum step finish(struct conn *c)
{
	struct exchange *x = c->x;
	bool stays = x->keep_alive && x->request_body.done && !x->upstream_deaf &&
		     flow_waiting(&c->up) == 0;

	conn_event(c, EGRESS_VERDICT_ALLOW, NULL);
	if (!stays)
		return conn_drain(c);
	if (!x->upstream_stays || x->from.len > 0)
		conn_close_upstream(c);
	conn_end_exchange(c);
	flow_rest(&c->up);
	flow_rest(&c->down);
	c->served = true;
	c->state = CONN_REQUEST;
	deadline_arm(
		&c->proxy->deadlines, &c->deadline, c->in.len > 0 ? DEADLINE_HEAD : DEADLINE_IDLE);
	if (c->in.len > 0)
		return STEP_AGAIN;
	conn_wants(c, EPOLLIN, c->upstream.fd >= 0 ? EPOLLIN : 0);
	return STEP_WAIT;
}

enum step relay_fail(struct conn *c, enum egress_verdict v)
{
	if (!c->x->responded && c->down.out_at == 0)
		return conn_refuse(c, v, NULL);
	conn_event(c, v, "mid-request");
	flow_done(&c->down);
	return conn_drain(c);
}

static enum step fail(struct conn *c, enum part part)
{
	static const enum egress_verdict verdicts[] = {
		[PART_USED_UP] = EGRESS_VERDICT_QUOTA,
		[PART_MALFORMED] = EGRESS_VERDICT_MALFORMED,
		[PART_BAD_UPSTREAM] = EGRESS_VERDICT_BAD_UPSTREAM,
		[PART_SHORT] = EGRESS_VERDICT_ALLOW,
	};

	if (part == PART_AGAIN)
		return request_again(c);
	if (part == PART_SHORT)
		return STEP_CLOSE;
	return relay_fail(c, verdicts[part]);
}

enum step relay_run(struct conn *c)
{
	struct exchange *x = c->x;
	uint64_t sent = c->up.written;

	enum part up = send_request(c);
	if (up > PART_DONE)
		return fail(c, up);
	if (c->up.written > sent && !x->responded)
		deadline_arm(&c->proxy->deadlines, &c->deadline, DEADLINE_UPSTREAM);
	enum part down = pass_answer(c);
	if (down > PART_DONE)
		return fail(c, down);
	if (down == PART_DONE)
		return finish(c);
	/* What is read already, no socket reports: where to write it, does. */
	bool up_waits = up == PART_TURN || flow_waiting(&c->up) > 0;
	bool down_waits = down == PART_TURN || flow_waiting(&c->down) > 0;
	conn_wants(c, (up == PART_DONE || up_waits ? 0 : EPOLLIN) | (down_waits ? EPOLLOUT : 0),
		(down_waits ? 0 : EPOLLIN) | (up_waits ? EPOLLOUT : 0));
	return STEP_WAIT;
}
