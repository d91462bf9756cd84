#include "executor/rundir/attach-connection.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/json.h"

void attach_connection_close(struct attach_connection *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	str_reset(&c->in);
	str_reset(&c->out);
	c->taken = c->sent = 0;
}

void attach_connection_done(struct attach_connection *c)
{
	attach_connection_close(c);
	str_done(&c->in);
	str_done(&c->out);
}

bool attach_connection_can_read(const struct attach_connection *c)
{
	return c->fd >= 0 && c->in.len - c->taken < c->in.max;
}

/* What was taken makes room. */
static void compact(struct attach_connection *c)
{
	if (c->taken == 0)
		return;
	c->in.len -= c->taken;
	memmove(c->in.data, c->in.data + c->taken, c->in.len);
	c->taken = 0;
}

bool attach_connection_read(struct attach_connection *c)
{
	compact(c);
	size_t room = c->in.max - c->in.len;
	char *to = room > 0 ? str_reserve(&c->in, room) : NULL;
	if (!to)
		return true;
	ssize_t n = recv(c->fd, to, room, MSG_DONTWAIT);
	if (n > 0)
		c->in.len += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static struct text unread(const struct attach_connection *c)
{
	return (struct text){str_text(&c->in) + c->taken, c->in.len - c->taken};
}

enum attach_state attach_connection_next(
	const struct attach_connection *c, struct attach_frame *ret)
{
	struct text rest = unread(c);

	return attach_frame_decode(&rest, ret);
}

void attach_connection_take(struct attach_connection *c)
{
	struct attach_frame f;
	struct text rest = unread(c);

	if (attach_frame_decode(&rest, &f) == ATTACH_FRAME)
		c->taken = c->in.len - rest.len;
}

static void add_frame(struct attach_connection *c, const struct attach_frame *f)
{
	/* Fails only at a maximum that no machine's memory reaches. */
	(void)!attach_frame_encode(f, &c->out);
}

void attach_connection_add(struct attach_connection *c, enum attach_type type, struct text bytes)
{
	do {
		struct attach_frame f = {.type = type, .data = bytes};
		if (f.data.len > ATTACH_PAYLOAD_MAX)
			f.data.len = ATTACH_PAYLOAD_MAX;
		if (c->fd >= 0)
			add_frame(c, &f);
		bytes = text_after(bytes, f.data.len);
	} while (bytes.len > 0);
}

void attach_connection_add_json(
	struct attach_connection *c, enum attach_type type, const json_t *object)
{
	auto_free char *text = json_write(object);

	attach_connection_add(c, type, text_of(text));
}

void attach_connection_add_size(struct attach_connection *c, uint16_t rows, uint16_t cols)
{
	struct attach_frame f = {.type = ATTACH_RESIZE, .rows = rows, .cols = cols};

	if (c->fd >= 0)
		add_frame(c, &f);
}

size_t attach_connection_waiting(const struct attach_connection *c)
{
	return c->out.len - c->sent;
}

ssize_t attach_connection_flush(struct attach_connection *c)
{
	size_t before = c->sent;

	while (c->fd >= 0 && attach_connection_waiting(c) > 0) {
		ssize_t n = send(c->fd, c->out.data + c->sent, attach_connection_waiting(c),
			MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -1;
		if (n < 0)
			break;
		c->sent += (size_t)n;
	}
	size_t sent = c->sent - before;
	if (attach_connection_waiting(c) == 0) {
		str_reset(&c->out);
		c->sent = 0;
	}
	return (ssize_t)sent;
}
