/*
 * An operation may free the server (a stop that ends the run at once), so nothing of it is touched
 * after one unless `alive` of the call still says so.
 */
#include "executor/rundir/control-server.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

enum { CLIENTS_MAX = 16, READ_SIZE = 4096 };

struct client {
	struct control_server *owner;
	size_t slot;
	int fd;
	struct loop_source *source;
	struct str in;
	enum control_answered waits; /* CONTROL_AT_ONCE: for nothing */
	bool *alive;                 /* of the call that serves it, or NULL */
};

struct control_server {
	struct loop *loop;
	const struct control_op *ops;
	void *data;
	int fd;
	struct loop_source *source;
	struct client *clients[CLIENTS_MAX];
};

static void drop(struct client *c)
{
	if (c->alive)
		*c->alive = false;
	c->owner->clients[c->slot] = NULL;
	loop_remove(c->source);
	close(c->fd);
	str_done(&c->in);
	free(c);
}

/* A client that does not take it is dropped. */
static void answer(struct client *c, const json_t *message)
{
	AUTO(str) out = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER);

	control_encode(&out, message);
	if (send(c->fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)out.len)
		drop(c);
}

static void answer_error(struct client *c, const struct error *err)
{
	auto_json *envelope = error_to_json(err);

	json_object_set_new(envelope, "ok", json_false());
	answer(c, envelope);
}

static void answer_ok(struct client *c, json_t *members)
{
	auto_json *ok = members ? json_incref(members) : json_object();

	json_object_set_new(ok, "ok", json_true());
	answer(c, ok);
}

static const struct control_op *find(const struct control_server *s, struct text name)
{
	for (const struct control_op *o = s->ops; o->op; o++)
		if (text_is(name, o->op))
			return o;
	return NULL;
}

static void serve(struct client *c, const json_t *request, const bool *alive)
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
	/* Set first: it may be done before the operation returns. */
	if (op->answered != CONTROL_AT_ONCE)
		c->waits = op->answered;
	int r = op->run(c->owner->data, request, &members, &err);
	if (!*alive)
		return;
	if (r < 0) {
		c->waits = CONTROL_AT_ONCE;
		answer_error(c, &err);
	} else if (op->answered == CONTROL_AT_ONCE) {
		answer_ok(c, members);
	}
}

/* Every message that is complete. */
static void serve_all(struct client *c)
{
	auto_error struct error err = ERROR_INIT;
	bool alive = true;

	c->alive = &alive;
	while (alive) {
		auto_json *request = NULL;
		int r = control_decode(&c->in, &request, &err);
		if (r < 0) {
			answer_error(c, &err);
			if (alive)
				drop(c);
			return;
		}
		if (r == 0)
			break;
		serve(c, request, &alive);
	}
	if (alive)
		c->alive = NULL;
}

static void on_client(void *data, uint32_t events)
{
	struct client *c = data;
	char buffer[READ_SIZE];

	(void)events;
	ssize_t n = recv(c->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || str_add(&c->in, buffer, (size_t)n) < 0)
		drop(c);
	else
		serve_all(c);
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

struct control_server *control_server_open(struct loop *l, const struct home *h, const char *handle,
	const struct control_op *ops, void *data, struct error *err)
{
	int fd = control_listen(h, handle, err);

	if (fd < 0)
		return NULL;
	struct control_server *s = mem_alloc(sizeof(*s));
	*s = (struct control_server){.loop = l, .ops = ops, .data = data, .fd = fd};
	s->source = loop_watch(l, fd, EPOLLIN, on_connect, s);
	return s;
}

void control_server_free(struct control_server *s)
{
	if (!s)
		return;
	loop_remove(s->source);
	close(s->fd);
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];
		if (c && c->waits != CONTROL_AT_ONCE)
			answer_ok(c, NULL);
		if (s->clients[i])
			drop(c);
	}
	free(s);
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
		if (!c || c->waits == CONTROL_AT_ONCE)
			continue;
		c->waits = CONTROL_AT_ONCE;
		answer_error(c, err);
	}
}
