#include "egress/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "egress/socket-address.h"
#include "sys/clock.h"
#include "sys/env.h"
#include "sys/program.h"

enum {
	CONTROL_TO = 3,
	EVENTS_TO = 4,
	BACKLOG = 1024,
	ANSWER_MAX = 1 << 18,
	CONTROL_BUFFER = 1 << 18, /* a grant with 256 long names is 70 KB */
	STOP_MS = 1000,
};

/* ---- Listening ---- */

static bool free_bind(int fd, int family)
{
	int on = 1;

	return (family == AF_INET ? setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on))
				  : setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on))) ==
		       0 &&
	       setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0;
}

int egress_owner_listen(const struct address *address, struct endpoint *ret, struct error *err)
{
	auto_fd int fd = socket(address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_storage at;
	socklen_t len = socket_address_make(address, ret->port, &at);
	char text[INET6_ADDRSTRLEN];

	if (fd < 0 || !free_bind(fd, address->family) ||
		bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, BACKLOG) < 0 ||
		getsockname(fd, (struct sockaddr *)&at, &len) < 0) {
		address_text(address, text);
		return error_set_errno(err, ERROR_SANDBOX_EGRESS_UNAVAILABLE, errno,
			"the egress proxy cannot listen on %s", text);
	}
	socket_address_read(&at, ret);
	return TAKE_FD(fd);
}

/* ---- Asking ---- */

static int failed(struct error *err, int errnum, const char *what)
{
	return errnum ? error_set_errno(err, ERROR_EGRESS_PROXY_FAILED, errnum, "%s", what)
		      : error_set(err, ERROR_EGRESS_PROXY_FAILED, "%s", what);
}

static int send_message(int control, struct text message, int fd, struct error *err)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} space = {.bytes = {0}};
	struct iovec piece = {(void *)(uintptr_t)message.p, message.len};
	struct msghdr m = {.msg_iov = &piece, .msg_iovlen = 1};

	if (fd >= 0) {
		m.msg_control = space.bytes;
		m.msg_controllen = sizeof(space.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	if (sendmsg(control, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return failed(err, errno, "cannot ask the egress proxy");
	return 0;
}

/* Signals that somebody handles are no end of waiting. */
static bool wait_readable(int fd, int64_t until_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	for (;;) {
		int64_t left = until_ms - clock_boottime_ms();
		int ready = poll(&p, 1, left > 0 ? (int)left : 0);
		if (ready >= 0 || errno != EINTR)
			return ready > 0;
	}
}

/* One message of it; NULL: none came in time. */
static json_t *receive(int control, int64_t until_ms, struct error *err)
{
	AUTO(str) bytes = STR_INIT(ANSWER_MAX);
	char *room = str_reserve(&bytes, ANSWER_MAX);

	if (!wait_readable(control, until_ms)) {
		failed(err, 0, "the egress proxy does not answer");
		return NULL;
	}
	ssize_t n = recv(control, room, ANSWER_MAX, MSG_DONTWAIT);
	if (n <= 0) {
		failed(err, n < 0 ? errno : 0, "the egress proxy has ended");
		return NULL;
	}
	return json_read((struct text){room, (size_t)n}, ANSWER_MAX,
		"the answer of the egress proxy", ERROR_EGRESS_PROXY_FAILED, err);
}

/* Takes the request. Answers to earlier ones, which nobody waits for any more, are passed over. */
static int ask(struct egress_owner *o, json_t *request, int fd, json_t **ret, struct error *err)
{
	int64_t until = clock_boottime_ms() + EGRESS_OWNER_ANSWER_MS, seq = ++o->seq;

	json_object_set_new(request, "seq", json_integer(seq));
	auto_free char *text = json_write(request);
	json_decref(request);
	if (o->control < 0)
		return failed(err, 0, "the egress proxy is not running");
	if (send_message(o->control, text_of(text), fd, err) < 0)
		return -1;
	for (;;) {
		auto_json *answer = receive(o->control, until, err);
		if (!answer)
			return -1;
		if (json_get_int(answer, "seq", -1) != seq)
			continue;
		if (!json_get_bool(answer, "ok", false)) {
			json_object_del(answer, "seq");
			error_from_json(err, answer);
			return -1;
		}
		if (ret)
			*ret = TAKE_PTR(answer);
		return 0;
	}
}

/* ---- The process ---- */

static int make_channels(int control[2], int events[2], struct error *err)
{
	int bytes = CONTROL_BUFFER;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		return failed(err, errno, "cannot make a channel to the egress proxy");
	if (pipe2(events, O_CLOEXEC | O_NONBLOCK) < 0)
		return failed(err, errno, "cannot make a channel from the egress proxy");
	/* As much as the host allows: a long grant that does not fit is refused with EMSGSIZE. */
	for (int i = 0; i < 2; i++)
		if (setsockopt(control[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)) < 0)
			return failed(err, errno, "cannot make a channel to the egress proxy");
	return 0;
}

bool egress_owner_installed(void)
{
	auto_free char *program = program_path("cloop-egress");

	return access(program, X_OK) == 0;
}

int egress_owner_start(const char *program, struct egress_owner *ret, struct error *err)
{
	auto_fd int own_control = -1, its_control = -1, own_events = -1, its_events = -1;
	int control[2] = {-1, -1}, events[2] = {-1, -1};
	char *argv[] = {(char[]){"cloop-egress"}, NULL};

	int r = make_channels(control, events, err);
	own_control = control[0];
	its_control = control[1];
	own_events = events[0];
	its_events = events[1];
	if (r < 0)
		return -1;
	AUTO(strv) env = STRV_INIT(1);
	if (env_get("ASAN_OPTIONS"))
		strv_addf(&env, "ASAN_OPTIONS=%s", env_get("ASAN_OPTIONS"));
	struct spawn s = {.path = program, .argv = argv, .env = env.v, .new_session = true};
	s.fds[s.n_fds++] = (struct spawn_fd){2, 2};
	s.fds[s.n_fds++] = (struct spawn_fd){its_control, CONTROL_TO};
	s.fds[s.n_fds++] = (struct spawn_fd){its_events, EVENTS_TO};
	AUTO(egress_owner) o = EGRESS_OWNER_INIT;
	if (spawn_start(&s, &o.proxy, err) < 0) {
		err->code = ERROR_EGRESS_PROXY_FAILED;
		return error_prefix(err, "the egress proxy cannot start");
	}
	o.control = TAKE_FD(own_control);
	o.events = TAKE_FD(own_events);
	close(TAKE_FD(its_control));
	close(TAKE_FD(its_events));
	if (ask(&o, json_pack("{s:s}", "op", "stats"), -1, NULL, err) < 0)
		return error_prefix(err, "the egress proxy did not start");
	*ret = o;
	o = EGRESS_OWNER_INIT;
	return 0;
}

void egress_owner_stop(struct egress_owner *o)
{
	if (o->control >= 0)
		close(TAKE_FD(o->control));
	if (o->proxy.pid > 0 && !wait_readable(o->proxy.pidfd, clock_boottime_ms() + STOP_MS))
		child_kill(&o->proxy);
	child_done(&o->proxy);
}

void egress_owner_done(struct egress_owner *o)
{
	if (o->control >= 0)
		close(TAKE_FD(o->control));
	child_done(&o->proxy);
	if (o->events >= 0)
		close(TAKE_FD(o->events));
}

/* ---- What it is told ---- */

int egress_owner_add_listener(
	struct egress_owner *o, const char *id, int listen_fd, struct error *err)
{
	return ask(
		o, json_pack("{s:s, s:s}", "op", "add_listener", "id", id), listen_fd, NULL, err);
}

int egress_owner_remove_listener(struct egress_owner *o, const char *id, struct error *err)
{
	return ask(o, json_pack("{s:s, s:s}", "op", "remove_listener", "id", id), -1, NULL, err);
}

int egress_owner_open(struct egress_owner *o, const struct egress_session *session,
	const char *listener, const struct egress_owner_facts *facts, struct error *err)
{
	json_t *request = egress_session_to_json(session);

	json_object_set_new(request, "op", json_string("open"));
	json_object_set_new(request, "listener", json_string(listener));
	json_object_set_new(request, "handle", json_exact(facts->handle));
	json_object_set_new(request, "project", json_exact(facts->project));
	json_object_set_new(request, "executor_id", json_exact(facts->executor_id));
	json_object_set_new(request, "subject", json_exact(facts->subject));
	return ask(o, request, -1, NULL, err);
}

int egress_owner_renew(
	struct egress_owner *o, const char *session, int64_t deadline_ms, struct error *err)
{
	return ask(o,
		json_pack("{s:s, s:s, s:I}", "op", "renew", "session", session,
			"deadline_boottime_ms", (json_int_t)deadline_ms),
		-1, NULL, err);
}

int egress_owner_close(struct egress_owner *o, const char *session, const char *reason,
	struct egress_counters *ret, struct error *err)
{
	auto_json *answer = NULL;

	if (ask(o,
		    json_pack(
			    "{s:s, s:s, s:s}", "op", "close", "session", session, "reason", reason),
		    -1, &answer, err) < 0)
		return -1;
	*ret = (struct egress_counters){
		.bytes_up = (uint64_t)json_get_int(answer, "bytes_up", 0),
		.bytes_down = (uint64_t)json_get_int(answer, "bytes_down", 0),
	};
	return json_get_bool(answer, "known", true) ? 0 : 1;
}

int egress_owner_stats(struct egress_owner *o, json_t **ret, struct error *err)
{
	return ask(o, json_pack("{s:s}", "op", "stats"), -1, ret, err);
}
