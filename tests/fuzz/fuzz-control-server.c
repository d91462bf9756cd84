/*
 * A control socket: whatever a client sends, in whatever pieces, each complete request has one
 * answer and no answer comes without one, all are frames with `ok`, the pieces do not matter, and
 * the next client is served.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "executor/rundir/control-server.h"
#include "sys/loop.h"
#include "json-frame.h"
#include "scratch.h"

#define HANDLE "c-0123456789ab"

enum { ROOM = 1 << 20, BYTES_MAX = 1000, ROUNDS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bench {
	struct home home;
	struct loop *loop;
	struct control_server *server;
	unsigned served; /* operations that were called for this client */
	bool kept;       /* its connection became an operation's */
} b;

static int op_echo(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)data, (void)err;
	b.served++;
	*ret = json_pack("{s:O?}", "said", json_object_get(request, "say"));
	return 0;
}

static int op_fail(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)data, (void)request, (void)ret;
	b.served++;
	return error_set(err, ERROR_SIGNAL_INVALID, "no");
}

static int op_late(void *data, const json_t *request, json_t **ret, struct error *err)
{
	auto_json *more = json_pack("{s:i}", "late", 1);

	(void)data, (void)ret, (void)err;
	b.served++;
	if (json_get_bool(request, "now", false))
		control_server_settle(b.server, more);
	return 1;
}

static int op_settle(void *data, const json_t *request, json_t **ret, struct error *err)
{
	auto_json *more = json_pack("{s:i}", "settled", 1);

	(void)data, (void)request, (void)ret, (void)err;
	b.served++;
	control_server_settle(b.server, more);
	control_server_delivered(b.server);
	return 0;
}

static int op_bytes(
	void *data, const json_t *request, struct text bytes, json_t **ret, struct error *err)
{
	(void)data, (void)err;
	b.served++;
	assert(json_get_int(request, "size", -1) == (int64_t)bytes.len && bytes.len <= BYTES_MAX);
	*ret = json_pack("{s:I}", "got", (json_int_t)bytes.len);
	return 0;
}

static void keep(void *data, const json_t *request, int fd, struct text early)
{
	(void)data, (void)request;
	b.kept = true;
	/* What came early goes back. */
	if (early.len > 0)
		(void)!send(fd, early.p, early.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static const struct control_op ops[] = {
	{.op = "echo", .run = op_echo},
	{.op = "fail", .run = op_fail},
	{.op = "wait", .answered = CONTROL_WHEN_DELIVERED, .run = op_echo},
	{.op = "late", .answered = CONTROL_LATER, .run = op_late},
	{.op = "settle", .run = op_settle},
	{.op = "keep", .answered = CONTROL_KEPT, .run = op_echo, .keep = keep},
	{.op = "bytes", .run_bytes = op_bytes, .bytes_max = BYTES_MAX},
	{.op = NULL},
};

static void begin(void)
{
	auto_error struct error err = ERROR_INIT;

	b.home = HOME_INIT;
	b.home.sockets = scratch_make();
	b.home.sockets_fd = open(b.home.sockets, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	b.loop = loop_new(&err);
	b.server = control_server_open(b.loop, &b.home, HANDLE, ops, NULL, &err);
	assert(b.loop && b.server);
}

static void stop(void *data)
{
	loop_stop(data);
}

/* All that is ready, and no more. */
static void serve(void)
{
	auto_error struct error err = ERROR_INIT;

	for (int i = 0; i < ROUNDS; i++) {
		(void)!loop_at(b.loop, 0, stop, b.loop);
		int r = loop_run(b.loop, &err);
		assert(r == 0);
	}
}

static int connect_client(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/" HANDLE ".sock", b.home.sockets);
	assert(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	serve();
	return fd;
}

static void receive(int fd, struct str *answers)
{
	char *room = str_reserve(answers, 65536);
	ssize_t n;

	while (room && (n = recv(fd, room, 65536, MSG_DONTWAIT)) > 0) {
		answers->len += (size_t)n;
		room = str_reserve(answers, 65536);
	}
}

static void converse(struct text bytes, size_t step, struct str *answers)
{
	auto_fd int fd = connect_client();

	b.served = 0;
	b.kept = false;
	for (size_t at = 0; at < bytes.len; at += step) {
		size_t n = bytes.len - at < step ? bytes.len - at : step;
		if (send(fd, bytes.p + at, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
		serve();
		receive(fd, answers);
	}
	serve();
	receive(fd, answers);
	close(TAKE_FD(fd));
	serve();
}

/* The number of answers; what is behind a kept connection's is an echo, and is not looked at. */
static unsigned count(struct text answers)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(str) in = STR_INIT(ROOM);
	unsigned n = 0;

	str_add(&in, answers.p, answers.len);
	for (;; n++) {
		auto_json *one = NULL;
		if (control_decode(&in, &one, &err) <= 0)
			return n;
		assert(json_is_boolean(json_object_get(one, "ok")) || n > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char echo[] = "\x15\0\0\0{\"op\":\"echo\",\"say\":1}";
	AUTO(str) whole = STR_INIT(ROOM);
	AUTO(str) pieces = STR_INIT(ROOM);
	AUTO(str) next = STR_INIT(ROOM);
	struct text bytes = {(const char *)data, size};

	if (!b.server)
		begin();
	if (size > 8192 || size == 0)
		return 0;
	converse(bytes, size, &whole);
	bool kept = b.kept;
	converse(bytes, size / 3 + 1, &pieces);
	/* What comes early to a kept connection depends on the pieces. */
	assert(kept == b.kept);
	assert(kept || text_equal((struct text){str_text(&whole), whole.len},
			       (struct text){str_text(&pieces), pieces.len}));
	(void)count((struct text){str_text(&whole), whole.len});
	converse((struct text){echo, sizeof(echo) - 1}, sizeof(echo), &next);
	assert(b.served == 1 && count((struct text){str_text(&next), next.len}) == 1);
	return 0;
}
