#include "executor/rundir/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/cancel.h"
#include "sys/clock.h"
#include "sys/file.h"

enum { BYTES_ANSWER_MS = 60000 };

/* A folder's own path may be longer than sun_path: it is reached through its descriptor. */
static void address_at(int folder, const char *name, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", folder, name);
}

/* In the folder of sockets. */
static char *socket_name(const char *handle)
{
	return mem_printf("%s.sock", handle);
}

/* The link in the run directory, below <home>/runs. */
static char *link_name(const char *handle)
{
	return mem_printf("%s/control", handle);
}

bool control_exists(const struct home *h, const char *handle)
{
	auto_free char *name = socket_name(handle);
	auto_free char *link = link_name(handle);

	return faccessat(h->runs_fd, link, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       faccessat(h->sockets_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool control_is_named(const struct home *h, const char *handle)
{
	auto_free char *name = socket_name(handle);
	struct stat named, open;

	return faccessat(h->sockets_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat(h->sockets, &named) == 0 && fstat(h->sockets_fd, &open) == 0 &&
	       file_same(&named, &open);
}

/* The socket of a supervisor that had another folder than we have. */
static void unlink_elsewhere(const struct home *h, const char *link, const char *name)
{
	char target[PATH_MAX] = "";

	if (readlinkat(h->runs_fd, link, target, sizeof(target) - 1) < 0)
		return;
	const char *slash = strrchr(target, '/');
	if (slash && strcmp(slash + 1, name) == 0)
		unlink(target);
}

void control_unlink(const struct home *h, const char *handle)
{
	auto_free char *name = socket_name(handle);
	auto_free char *link = link_name(handle);

	unlink_elsewhere(h, link, name);
	unlinkat(h->sockets_fd, name, 0);
	unlinkat(h->runs_fd, link, 0);
}

/* Without the link, for want of space, those who know the same folder find us. */
static void link_socket(const struct home *h, const char *handle)
{
	auto_free char *link = link_name(handle);
	auto_free char *target = mem_printf("%s/%s.sock", h->sockets, handle);

	(void)!symlinkat(target, h->runs_fd, link);
}

int control_listen(const struct home *h, const char *handle, struct error *err)
{
	auto_free char *name = socket_name(handle);
	struct sockaddr_un address;

	control_unlink(h, handle);
	address_at(h->sockets_fd, name, &address);
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before = umask(0177);
	int r = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&address, sizeof(address));
	umask(before);
	if (r < 0 || listen(fd, 16) < 0)
		return error_set_errno(err, ERROR_HOME_UNUSABLE, errno,
			"making the control socket below %s", h->sockets);
	link_socket(h, handle);
	return TAKE_FD(fd);
}

void control_encode(struct str *out, const json_t *message)
{
	auto_free char *text = json_write(message);
	uint32_t n = (uint32_t)strlen(text);
	unsigned char header[CONTROL_HEADER] = {(unsigned char)n, (unsigned char)(n >> 8),
		(unsigned char)(n >> 16), (unsigned char)(n >> 24)};

	str_add(out, header, sizeof(header));
	str_add(out, text, n);
}

int control_decode(struct str *in, json_t **ret, struct error *err)
{
	const unsigned char *p = (const unsigned char *)in->data;

	if (in->len < CONTROL_HEADER)
		return 0;
	size_t n = (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
	if (n > CONTROL_MESSAGE_MAX)
		return error_set(err, ERROR_USAGE, "a control message of %zu bytes", n);
	if (in->len < CONTROL_HEADER + n)
		return 0;
	*ret = json_read((struct text){in->data + CONTROL_HEADER, n}, CONTROL_MESSAGE_MAX,
		"control message", ERROR_USAGE, err);
	if (!*ret)
		return -1;
	size_t rest = in->len - CONTROL_HEADER - n;
	memmove(in->data, in->data + CONTROL_HEADER + n, rest);
	in->len = rest;
	return 1;
}

static int connect_at(int folder, const char *name)
{
	struct sockaddr_un address;

	address_at(folder, name, &address);
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return TAKE_FD(fd);
}

static int connect_to(const struct home *h, const char *handle, struct error *err)
{
	auto_free char *name = socket_name(handle);
	auto_free char *link = link_name(handle);

	int fd = connect_at(h->runs_fd, link);
	if (fd < 0)
		fd = connect_at(h->sockets_fd, name);
	if (fd >= 0)
		return fd;
	error_set(err, ERROR_ATTACH_CLOSED, "run %s has no supervisor that listens", handle);
	return error_set_remedy(
		err, "see what became of it: cloop status %s, cloop logs %s", handle, handle);
}

/* Bytes that the answer still lacks: what is behind it is not ours to read. */
static size_t bytes_missing(const struct str *in)
{
	const unsigned char *p = (const unsigned char *)in->data;

	if (in->len < CONTROL_HEADER)
		return CONTROL_HEADER - in->len;
	size_t n = (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
	return CONTROL_HEADER + n - in->len;
}

static int receive(int fd, int64_t deadline, json_t **ret, struct error *err)
{
	AUTO(str) in = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER);

	for (;;) {
		int r = control_decode(&in, ret, err);
		if (r != 0)
			return r < 0 ? -1 : 0;
		int64_t left = deadline ? deadline - clock_boottime_ms() : -1;
		struct pollfd p[2] = {
			{.fd = fd, .events = POLLIN}, {.fd = cancel_fd(), .events = POLLIN}};
		if ((deadline && left <= 0) || poll(p, 2, (int)left) == 0)
			return error_set(
				err, ERROR_SIGNAL_FAILED, "the supervisor did not answer in time");
		if (p[1].revents)
			return cancel_refuse(err, "the wait for the supervisor's answer");
		size_t want = bytes_missing(&in);
		char *room = str_reserve(&in, want);
		ssize_t n = room ? recv(fd, room, want, 0) : 0;
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return error_set(
				err, ERROR_ATTACH_CLOSED, "the supervisor closed the connection");
		in.len += n > 0 ? (size_t)n : 0;
	}
}

/* The connection after an answer that is no error; -1 + err. */
static int ask(const struct home *h, const char *handle, const json_t *request, int64_t timeout_ms,
	json_t **ret, struct error *err)
{
	AUTO(str) out = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER);

	auto_fd int fd = connect_to(h, handle, err);
	if (fd < 0)
		return -1;
	control_encode(&out, request);
	if (send(fd, out.data, out.len, MSG_NOSIGNAL) != (ssize_t)out.len)
		return error_set_errno(
			err, ERROR_ATTACH_CLOSED, errno, "sending to the supervisor of %s", handle);
	int64_t deadline = timeout_ms ? clock_boottime_ms() + timeout_ms : 0;
	if (receive(fd, deadline, ret, err) < 0)
		return -1;
	if (!json_get_bool(*ret, "ok", false)) {
		error_from_json(err, *ret);
		return -1;
	}
	return TAKE_FD(fd);
}

int control_keep(const struct home *h, const char *handle, const json_t *request,
	int64_t timeout_ms, int *ret_fd, struct error *err)
{
	auto_json *answer = NULL;
	auto_fd int fd = ask(h, handle, request, timeout_ms, &answer, err);

	if (fd < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int control_call(const struct home *h, const char *handle, const json_t *request,
	int64_t timeout_ms, json_t **ret, struct error *err)
{
	auto_json *answer = NULL;
	auto_fd int fd = ask(h, handle, request, timeout_ms, &answer, err);

	if (fd < 0)
		return -1;
	if (ret)
		*ret = json_incref(answer);
	return 0;
}

static int send_all(int fd, struct text bytes, struct error *err)
{
	while (bytes.len > 0) {
		ssize_t n = send(fd, bytes.p, bytes.len, MSG_NOSIGNAL);
		if (n < 0 && errno != EINTR)
			return error_set_errno(
				err, ERROR_ATTACH_CLOSED, errno, "sending to the supervisor");
		bytes = text_after(bytes, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

int control_call_bytes(const struct home *h, const char *handle, const json_t *request,
	struct text bytes, struct error *err)
{
	AUTO(str) out = STR_INIT(CONTROL_MESSAGE_MAX + CONTROL_HEADER);
	auto_json *answer = NULL;

	auto_fd int fd = connect_to(h, handle, err);
	if (fd < 0)
		return -1;
	control_encode(&out, request);
	/* A refusal is there before all bytes are sent, and says more than the closed connection.
	 */
	if (send_all(fd, (struct text){out.data, out.len}, err) == 0 &&
		send_all(fd, bytes, err) < 0)
		error_clear(err);
	if (receive(fd, clock_boottime_ms() + BYTES_ANSWER_MS, &answer, err) < 0)
		return -1;
	if (json_get_bool(answer, "ok", false))
		return 0;
	error_from_json(err, answer);
	return -1;
}
