#include "egress/proxy/control.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/json.h"
#include "egress/proxy/listener.h"
#include "egress/proxy/session-table.h"

/* ---- Operations; NULL: err. `fd` came with the message, or -1 ---- */

static json_t *done_if(int r)
{
	return r < 0 ? NULL : json_object();
}

static json_t *do_open(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	(void)fd;
	return done_if(session_table_open(p, request, err));
}

static json_t *do_renew(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	(void)fd;
	return done_if(session_table_renew(p, request, err));
}

static json_t *do_close(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	(void)fd, (void)err;
	return session_table_close(p, request);
}

static json_t *do_add_listener(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	const char *id = json_get_string(request, "id");

	if (!id || *fd < 0) {
		error_set(err, ERROR_EGRESS_PROXY_FAILED, "a listener needs a name and a socket");
		return NULL;
	}
	if (listener_add(p, id, *fd, err) < 0)
		return NULL;
	*fd = -1;
	return json_object();
}

static json_t *do_remove_listener(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	const char *id = json_get_string(request, "id");

	(void)fd, (void)err;
	if (id)
		listener_remove(p, id);
	return json_object();
}

static json_t *do_stats(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	(void)request, (void)fd, (void)err;
	return session_table_stats(p);
}

static json_t *do_stop(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	(void)request, (void)fd, (void)err;
	loop_stop(p->loop);
	return json_object();
}

static const struct operation {
	const char *name;
	json_t *(*run)(struct proxy *p, json_t *request, int *fd, struct error *err);
} operations[] = {
	{"open", do_open},
	{"renew", do_renew},
	{"close", do_close},
	{"add_listener", do_add_listener},
	{"remove_listener", do_remove_listener},
	{"stats", do_stats},
	{"stop", do_stop},
};

static json_t *run(struct proxy *p, json_t *request, int *fd, struct error *err)
{
	struct text op = json_get_text(request, "op");

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (text_is(op, operations[i].name))
			return operations[i].run(p, request, fd, err);
	error_set(err, ERROR_EGRESS_PROXY_FAILED, "there is no operation %s",
		quoted(op.p ? op : TEXT("")));
	return NULL;
}

/* ---- Messages ---- */

static int received_fd(struct msghdr *m)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void answer(struct proxy *p, struct text message, int fd)
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int given = fd;
	auto_json *request = json_read(message, CONTROL_MESSAGE_MAX, "a request to the proxy",
		ERROR_EGRESS_PROXY_FAILED, &err);
	json_t *reply = request ? run(p, request, &given, &err) : NULL;
	bool ok = reply != NULL;

	if (!ok)
		reply = error_to_json(&err);
	json_object_set_new(reply, "ok", json_boolean(ok));
	json_object_set_new(reply, "seq", json_integer(json_get_int(request, "seq", 0)));
	auto_free char *text = json_write(reply);
	json_decref(reply);
	/* An owner that does not read its answers does not wait for them either. */
	ssize_t n = send(p->control, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)n;
}

static void ready(void *data, uint32_t events)
{
	struct proxy *p = data;
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} space;
	AUTO(str) bytes = STR_INIT(CONTROL_MESSAGE_MAX);
	struct iovec piece = {str_reserve(&bytes, CONTROL_MESSAGE_MAX), CONTROL_MESSAGE_MAX};
	struct msghdr m = {.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = space.bytes,
		.msg_controllen = sizeof(space.bytes)};

	(void)events;
	ssize_t n = recvmsg(p->control, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		loop_stop(p->loop);
	else
		answer(p, (struct text){piece.iov_base, (size_t)n}, received_fd(&m));
}

int control_begin(struct proxy *p, struct error *err)
{
	p->control_source = loop_watch(p->loop, p->control, EPOLLIN, ready, p);
	if (!p->control_source)
		return error_set_errno(
			err, ERROR_EGRESS_PROXY_FAILED, errno, "the proxy has no control socket");
	return 0;
}
