/* The control socket's server (container-driver.md §18.4). Nobody is waited for: a client that
 * does not read its answer is dropped. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "executor/container/supervise/supervisor.h"

struct client {
	struct supervisor *owner;
	size_t slot;
	int fd;
	struct loop_source *source;
	struct str in;
	bool waits_for_end; /* asked for `stop` */
};

static void drop(struct client *c)
{
	c->owner->clients[c->slot] = NULL;
	loop_remove(c->source);
	close(c->fd);
	str_done(&c->in);
	free(c);
}

/* False: the client does not read, and was dropped. */
static bool answer(struct client *c, const json_t *message)
{
	AUTO(str) out = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER);

	control_encode(&out, message);
	if (send(c->fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)out.len)
		return true;
	drop(c);
	return false;
}

static bool answer_error(struct client *c, const struct error *err)
{
	auto_json *envelope = error_to_json(err);

	json_object_set_new(envelope, "ok", json_false());
	return answer(c, envelope);
}

static bool answer_ok(struct client *c)
{
	auto_json *ok = json_pack("{s:b}", "ok", 1);

	return answer(c, ok);
}

static bool do_status(struct client *c, const json_t *request)
{
	auto_json *ok = json_pack("{s:b, s:o}", "ok", 1, "record", record_public(c->owner->record));

	(void)request;
	return answer(c, ok);
}

static bool do_signal(struct client *c, const json_t *request)
{
	auto_error struct error err = ERROR_INIT;
	struct text word = json_get_text(request, "signal");

	if (text_is(word, "kill")) {
		stop_request(c->owner, "cancelled", 0);
	} else if (text_is(word, "interrupt")) {
		stop_signal(c->owner, SIGINT);
	} else if (text_is(word, "terminate")) {
		stop_signal(c->owner, SIGTERM);
	} else {
		error_set(&err, ERROR_SIGNAL_INVALID, "%s is no signal", quoted(word));
		return answer_error(c, &err);
	}
	return answer_ok(c);
}

static bool do_stop(struct client *c, const json_t *request)
{
	struct supervisor *s = c->owner;

	/* Answered when the run has ended; the request itself may end it at once. */
	c->waits_for_end = true;
	stop_request(s, "cancelled", json_get_int(request, "grace_ms", -1));
	return true;
}

static bool do_later(struct client *c, const json_t *request)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_NOT_AVAILABLE_YET, "this supervisor does not do %s yet",
		quoted(json_get_text(request, "op")));
	return answer_error(c, &err);
}

static const struct {
	const char *op;
	bool (*run)(struct client *c, const json_t *request);
} ops[] = {
	{"status", do_status},
	{"signal", do_signal},
	{"stop", do_stop},
	{"revoke", do_later},
	{"refresh", do_later},
	{"attach", do_later},
};

/* False: the client is gone. */
static bool serve(struct client *c, const json_t *request)
{
	auto_error struct error err = ERROR_INIT;
	struct text op = json_get_text(request, "op");

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (text_is(op, ops[i].op))
			return ops[i].run(c, request);
	error_set(&err, ERROR_USAGE, "%s is no operation", quoted(op));
	return answer_error(c, &err);
}

static void on_client(void *data, uint32_t events)
{
	struct client *c = data;
	struct supervisor *s = c->owner;
	size_t slot = c->slot;
	auto_error struct error err = ERROR_INIT;
	char buffer[4096];

	(void)events;
	ssize_t n = recv(c->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || str_add(&c->in, buffer, (size_t)n) < 0) {
		drop(c);
		return;
	}
	for (;;) {
		json_t *request = NULL;
		int r = control_decode(&c->in, &request, &err);
		if (r < 0 && answer_error(c, &err))
			drop(c);
		if (r <= 0)
			return;
		bool alive = serve(c, request);
		json_decref(request);
		/* A stop may have ended the run and with it every client. */
		if (!alive || s->clients[slot] != c)
			return;
	}
}

static void on_connect(void *data, uint32_t events)
{
	struct supervisor *s = data;
	struct ucred peer;
	socklen_t n = sizeof(peer);
	size_t slot = 0;

	(void)events;
	int fd = accept4(s->control_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	while (slot < CLIENTS_MAX && s->clients[slot])
		slot++;
	if (slot == CLIENTS_MAX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
		(peer.uid != geteuid() && peer.uid != 0)) {
		close(fd);
		return;
	}
	struct client *c = mem_alloc(sizeof(*c));
	*c = (struct client){.owner = s,
		.slot = slot,
		.fd = fd,
		.in = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER)};
	c->source = loop_watch(s->loop, fd, EPOLLIN, on_client, c);
	s->clients[slot] = c;
}

int server_open(struct supervisor *s, struct error *err)
{
	s->control_fd = control_listen(&s->home, s->run.handle, err);
	if (s->control_fd < 0)
		return -1;
	s->control = loop_watch(s->loop, s->control_fd, EPOLLIN, on_connect, s);
	return 0;
}

void server_close(struct supervisor *s)
{
	loop_remove(s->control);
	s->control = NULL;
	if (s->control_fd >= 0)
		close(s->control_fd);
	s->control_fd = -1;
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];
		if (c && (!c->waits_for_end || answer_ok(c)))
			drop(c);
	}
}
