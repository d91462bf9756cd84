/*
 * An operation may close the server (a stop that ends the run at once) and so drop the client that
 * it serves: such a client is only marked, and freed when the operation has come back.
 */
#include "executor/rundir/control-server.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/secret.h"
#include "sys/clock.h"

enum { CLIENTS_MAX = 16, READ_SIZE = 4096, LOOK_EVERY_MS = 10000 };

struct client {
	struct control_server *owner;
	size_t slot;
	int fd;
	struct loop_source *source;
	struct str in;
	enum control_answered waits; /* CONTROL_AT_ONCE: for nothing */
	json_t *later;               /* CONTROL_LATER: the answer so far */
	json_t *settled;             /* … and the rest of it, while it is being served */
	/* The operation whose bytes are still coming, its request, and those that are here. */
	const struct control_op *collecting;
	json_t *request;
	struct secret bytes;
	size_t got;
	bool serving;
	bool gone; /* dropped while serving; its owner may not be there any more */
};

struct control_server {
	struct loop *loop;
	const struct control_op *ops;
	void *data;
	struct home *home;
	const char *handle;
	int fd;
	struct loop_source *source, *look;
	struct client *clients[CLIENTS_MAX];
};

static void detach(struct client *c)
{
	c->owner->clients[c->slot] = NULL;
	loop_remove(c->source);
	if (c->fd >= 0)
		close(c->fd);
	str_done(&c->in);
	json_decref(c->later);
	json_decref(c->settled);
	json_decref(c->request);
	secret_done(&c->bytes);
	c->gone = true;
}

static void drop(struct client *c)
{
	bool serving = c->serving;

	detach(c);
	if (!serving)
		free(c);
}

/* False: the client does not take it, and was dropped. */
static bool send_message(struct client *c, const json_t *message)
{
	AUTO(str) out = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER);

	control_encode(&out, message);
	if (send(c->fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)out.len)
		return true;
	drop(c);
	return false;
}

static void answer_error(struct client *c, const struct error *err)
{
	auto_json *envelope = error_to_json(err);

	json_object_set_new(envelope, "ok", json_false());
	(void)send_message(c, envelope);
}

static void answer_ok(struct client *c, json_t *members)
{
	auto_json *ok = members ? json_incref(members) : json_object();

	json_object_set_new(ok, "ok", json_true());
	(void)send_message(c, ok);
}

/* The answer, and the connection becomes the operation's. */
static void hand_over(
	struct client *c, const struct control_op *op, const json_t *request, json_t *members)
{
	AUTO(str) early = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER);
	void *data = c->owner->data;

	answer_ok(c, members);
	if (c->gone)
		return;
	str_add(&early, str_text(&c->in), c->in.len);
	loop_remove(c->source);
	c->source = NULL;
	int fd = TAKE_FD(c->fd);
	detach(c);
	op->keep(data, request, fd, (struct text){str_text(&early), early.len});
}

static const struct control_op *find(const struct control_server *s, struct text name)
{
	for (const struct control_op *o = s->ops; o->op; o++)
		if (text_is(name, o->op))
			return o;
	return NULL;
}

/* What is known of a late answer is there, in whatever order it came. */
static void answer_late(struct client *c)
{
	auto_json *members = json_incref(c->later);

	if (!c->later || !c->settled)
		return;
	json_object_update(members, c->settled);
	json_decref(c->later);
	json_decref(c->settled);
	c->later = c->settled = NULL;
	c->waits = CONTROL_AT_ONCE;
	answer_ok(c, members);
}

/* The operation has come back: 0, 1 or -1. */
static void answer(struct client *c, const struct control_op *op, const json_t *request, int r,
	json_t *members, const struct error *err)
{
	if (r < 0 || (r == 0 && op->answered == CONTROL_LATER))
		c->waits = CONTROL_AT_ONCE;
	if (r < 0) {
		answer_error(c, err);
	} else if (r == 1) {
		json_decref(c->later);
		c->later = members ? json_incref(members) : json_object();
		answer_late(c);
	} else if (op->answered == CONTROL_KEPT) {
		hand_over(c, op, request, members);
	} else if (op->answered == CONTROL_AT_ONCE || op->answered == CONTROL_LATER) {
		answer_ok(c, members);
	}
}

/* Bytes follow. One that does not say how many cannot be followed any further. */
static void begin_collecting(struct client *c, const struct control_op *op, const json_t *request)
{
	auto_error struct error err = ERROR_INIT;
	int64_t size = json_get_int(request, "size", -1);

	if (size < 0 || (uint64_t)size > op->bytes_max) {
		error_set(&err, ERROR_SECRET_TOO_LARGE, "%s of %lld bytes, at most %zu are taken",
			op->op, (long long)size, op->bytes_max);
		answer_error(c, &err);
		if (!c->gone)
			detach(c);
		return;
	}
	c->collecting = op;
	c->request = json_deep_copy(request);
	secret_make((size_t)size, &c->bytes);
	c->got = 0;
}

/* Takes what is there of the bytes; true: they are complete. */
static bool collect(struct client *c)
{
	size_t left = c->bytes.len - c->got, n = c->in.len < left ? c->in.len : left;

	if (n > 0) {
		memcpy(c->bytes.p + c->got, c->in.data, n);
		memmove(c->in.data, c->in.data + n, c->in.len - n);
		explicit_bzero(c->in.data + c->in.len - n, n);
		c->in.len -= n;
		c->got += n;
	}
	return c->got == c->bytes.len;
}

static void serve_collected(struct client *c)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *members = NULL;
	auto_json *request = TAKE_PTR(c->request);
	const struct control_op *op = TAKE_PTR(c->collecting);
	struct secret bytes = c->bytes;

	c->bytes = (struct secret){.p = NULL};
	int r = op->run_bytes(c->owner->data, request, secret_text(&bytes), &members, &err);
	secret_done(&bytes);
	if (!c->gone)
		answer(c, op, request, r, members, &err);
}

static void serve(struct client *c, const json_t *request)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *members = NULL;
	struct text name = json_get_text(request, "op");
	const struct control_op *op = find(c->owner, name);

	if (!op) {
		error_set(&err, ERROR_USAGE, "%s is no operation", quoted(name));
		answer_error(c, &err);
		return;
	}
	if (op->run_bytes) {
		begin_collecting(c, op, request);
		return;
	}
	/* Set first: it may be done before the operation returns. */
	if (op->answered != CONTROL_AT_ONCE && op->answered != CONTROL_KEPT)
		c->waits = op->answered;
	int r = op->run(c->owner->data, request, &members, &err);
	if (!c->gone)
		answer(c, op, request, r, members, &err);
}

/* Every message that is complete; then c may be gone. */
static void serve_all(struct client *c)
{
	int r = 1;

	c->serving = true;
	while (r > 0 && !c->gone) {
		auto_error struct error err = ERROR_INIT;
		auto_json *request = NULL;
		if (c->collecting) {
			if (!collect(c))
				break;
			serve_collected(c);
			continue;
		}
		r = control_decode(&c->in, &request, &err);
		if (r > 0)
			serve(c, request);
		else if (r < 0)
			answer_error(c, &err);
	}
	c->serving = false;
	if (r < 0 && !c->gone)
		detach(c);
	if (c->gone)
		free(c);
}

static void on_client(void *data, uint32_t events)
{
	struct client *c = data;
	char buffer[READ_SIZE];

	(void)events;
	ssize_t n = recv(c->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	bool taken = n > 0 && str_add(&c->in, buffer, (size_t)n) == 0;
	/* Bytes of a secret may come with the request that announces them. */
	explicit_bzero(buffer, sizeof(buffer));
	if (taken)
		serve_all(c);
	else
		drop(c);
}

static void on_connect(void *data, uint32_t events)
{
	struct control_server *s = data;
	struct ucred peer;
	socklen_t n = sizeof(peer);
	size_t slot = 0;

	(void)events;
	auto_fd int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (slot < CLIENTS_MAX && s->clients[slot])
		slot++;
	if (fd < 0 || slot == CLIENTS_MAX ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
		(peer.uid != geteuid() && peer.uid != 0))
		return;
	struct client *c = mem_alloc(sizeof(*c));
	*c = (struct client){.owner = s,
		.slot = slot,
		.fd = TAKE_FD(fd),
		.in = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER)};
	c->source = loop_watch(s->loop, c->fd, EPOLLIN, on_client, c);
	s->clients[slot] = c;
}

static void listen_by(struct control_server *s, int fd)
{
	s->fd = fd;
	s->source = loop_watch(s->loop, fd, EPOLLIN, on_connect, s);
}

static void unlisten(struct control_server *s)
{
	loop_remove(s->source);
	close(s->fd);
	s->source = NULL;
	s->fd = -1;
}

static void look(void *data)
{
	struct control_server *s = data;
	auto_error struct error err = ERROR_INIT;

	s->look = loop_at(s->loop, clock_next_ms(LOOK_EVERY_MS), look, s);
	if (control_is_named(s->home, s->handle) || home_reopen_sockets(s->home, &err) < 0)
		return;
	int fd = control_listen(s->home, s->handle, &err);
	if (fd < 0)
		return;
	unlisten(s);
	listen_by(s, fd);
}

struct control_server *control_server_open(struct loop *l, struct home *h, const char *handle,
	const struct control_op *ops, void *data, struct error *err)
{
	int fd = control_listen(h, handle, err);

	if (fd < 0)
		return NULL;
	struct control_server *s = mem_alloc(sizeof(*s));
	*s = (struct control_server){
		.loop = l, .ops = ops, .data = data, .home = h, .handle = handle};
	listen_by(s, fd);
	s->look = loop_at(l, clock_next_ms(LOOK_EVERY_MS), look, s);
	return s;
}

static void dismiss(struct client *c)
{
	auto_json *ok = json_pack("{s:b}", "ok", 1);

	if (c->waits == CONTROL_AT_ONCE || send_message(c, ok))
		drop(c);
}

void control_server_shut(struct control_server *s)
{
	if (!s || s->fd < 0)
		return;
	unlisten(s);
	loop_remove(s->look);
	s->look = NULL;
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i] && s->clients[i]->waits != CONTROL_LATER)
			dismiss(s->clients[i]);
}

void control_server_free(struct control_server *s)
{
	if (!s)
		return;
	control_server_shut(s);
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		if (s->clients[i])
			drop(s->clients[i]);
	free(s);
}

void control_server_settle(struct control_server *s, json_t *more)
{
	for (size_t i = 0; s && i < CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];
		if (!c || c->waits != CONTROL_LATER)
			continue;
		json_decref(c->settled);
		c->settled = json_incref(more);
		answer_late(c);
	}
}

void control_server_delivered(struct control_server *s)
{
	for (size_t i = 0; s && i < CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];
		if (!c || c->waits != CONTROL_WHEN_DELIVERED)
			continue;
		c->waits = CONTROL_AT_ONCE;
		answer_ok(c, NULL);
	}
}

void control_server_failed(struct control_server *s, const struct error *err)
{
	for (size_t i = 0; s && i < CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];
		if (!c || c->waits == CONTROL_AT_ONCE || c->waits == CONTROL_LATER)
			continue;
		c->waits = CONTROL_AT_ONCE;
		answer_error(c, err);
	}
}
