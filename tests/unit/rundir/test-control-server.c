#include "unit/unit.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "executor/rundir/control-server.h"
#include "sys/file.h"

#define HANDLE "c-0123456789ab"

/* A server in this process; its clients are children that exit with 0 when all was as expected. */
struct fixture {
	char path[32];
	struct home home;
	struct loop *loop;
	struct control_server *server;
	int asked, waiting, kept;
	bool at_once; /* what is late is settled before the operation returns */
	bool no;      /* … or refused */
};

static int op_echo(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)err;
	((struct fixture *)data)->asked++;
	*ret = json_pack("{s:O}", "said", json_object_get(request, "say"));
	return 0;
}

static int op_fail(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)data;
	(void)request;
	(void)ret;
	return error_set(err, ERROR_SIGNAL_INVALID, "no");
}

static int op_wait(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)request;
	(void)ret;
	(void)err;
	((struct fixture *)data)->waiting++;
	return 0;
}

static int op_waiting(void *data, const json_t *request, json_t **ret, struct error *err)
{
	(void)request;
	(void)err;
	*ret = json_pack("{s:i}", "waiting", ((struct fixture *)data)->waiting);
	return 0;
}

/* As a stop that ends the run at once. */
static int op_end(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct fixture *f = data;

	(void)request;
	(void)ret;
	(void)err;
	control_server_free(f->server);
	f->server = NULL;
	return 0;
}

/* What came early goes back, and so does a byte that shows how the connection came. */
static void keep(void *data, const json_t *request, int fd, struct text early)
{
	struct fixture *f = data;
	bool blocks = !(fcntl(fd, F_GETFL) & O_NONBLOCK);

	f->kept += text_is(json_get_text(request, "op"), "keep");
	(void)!send(fd, blocks ? "b" : "n", 1, MSG_NOSIGNAL);
	(void)!send(fd, early.p, early.len, MSG_NOSIGNAL);
	close(fd);
}

enum { BYTES_MAX = 100000 };

/* How many bytes, their sum, and that nothing else came with them. */
static int op_bytes(
	void *data, const json_t *request, struct text bytes, json_t **ret, struct error *err)
{
	unsigned long sum = 0;

	((struct fixture *)data)->asked++;
	for (size_t i = 0; i < bytes.len; i++)
		sum += (unsigned char)bytes.p[i];
	if (text_is(json_get_text(request, "say"), "no"))
		return error_set(err, ERROR_SIGNAL_INVALID, "no");
	*ret = json_pack("{s:I, s:I}", "got", (json_int_t)bytes.len, "sum", (json_int_t)sum);
	return 0;
}

static int op_late(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct fixture *f = data;
	auto_json *more = json_pack("{s:s}", "outcome", "early");

	if (f->no)
		return error_set(err, ERROR_SIGNAL_INVALID, "no");
	*ret = json_pack("{s:O}", "said", json_object_get(request, "say"));
	if (json_get_bool(request, "now", false))
		return 0;
	if (f->at_once)
		control_server_settle(f->server, more);
	f->waiting++;
	return 1;
}

/* Everybody else is answered and nobody listens any more; then who waited late. */
static int op_settle(void *data, const json_t *request, json_t **ret, struct error *err)
{
	struct fixture *f = data;
	auto_json *more = json_pack("{s:s}", "outcome", "done");

	(void)request;
	(void)ret;
	(void)err;
	control_server_shut(f->server);
	control_server_shut(f->server);
	control_server_settle(f->server, more);
	return 0;
}

static const struct control_op ops[] = {
	{.op = "keep", .answered = CONTROL_KEPT, .run = op_echo, .keep = keep},
	{.op = "refuse", .answered = CONTROL_KEPT, .run = op_fail, .keep = keep},
	{.op = "echo", .run = op_echo},
	{.op = "fail", .run = op_fail},
	{.op = "wait", .answered = CONTROL_AT_END, .run = op_wait},
	{.op = "waiting", .run = op_waiting},
	{.op = "end", .answered = CONTROL_AT_END, .run = op_end},
	{.op = "bytes", .run_bytes = op_bytes, .bytes_max = BYTES_MAX},
	{.op = "late", .answered = CONTROL_LATER, .run = op_late},
	{.op = "settle", .run = op_settle},
	{.op = NULL},
};

static void fixture_done(struct fixture *f)
{
	auto_error struct error err = ERROR_INIT;

	control_server_free(f->server);
	loop_free(f->loop);
	home_done(&f->home);
	auto_fd int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_done(file_remove_tree_at(tmp, f->path + strlen("/tmp/"), &err), &err);
}

static void fixture_init(struct fixture *f)
{
	auto_error struct error err = ERROR_INIT;

	*f = (struct fixture){.path = "/tmp/test-control-XXXXXX", .home = HOME_INIT};
	assert_non_null(mkdtemp(f->path));
	f->home.sockets = strdup(f->path);
	f->home.sockets_fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->loop = loop_new(&err);
	f->server = control_server_open(f->loop, &f->home, HANDLE, ops, f, &err);
	assert_non_null(f->server);
}

typedef int client_fn(const struct home *h);

static int call(const struct home *h, json_t *request, json_t **ret, struct error *err)
{
	auto_json *taken = request;

	return control_call(h, HANDLE, taken, 5000, ret, err);
}

static void on_client_gone(void *data, uint32_t events)
{
	(void)events;
	loop_stop(data);
}

/* Serves until the client has ended; its exit status. */
static int serve(struct fixture *f, client_fn *client)
{
	auto_error struct error err = ERROR_INIT;
	int ends[2], status = -1;

	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		_exit(client(&f->home));
	}
	close(ends[1]);
	struct loop_source *gone = loop_watch(f->loop, ends[0], EPOLLIN, on_client_gone, f->loop);
	assert_done(loop_run(f->loop, &err), &err);
	loop_remove(gone);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int ask_and_fail(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *answer = NULL;

	if (call(h, json_pack("{s:s, s:s}", "op", "echo", "say", "hello"), &answer, &err) < 0 ||
		!text_is(json_get_text(answer, "said"), "hello"))
		return 1;
	if (call(h, json_pack("{s:s}", "op", "fail"), NULL, &err) == 0 ||
		err.code != ERROR_SIGNAL_INVALID)
		return 2;
	if (call(h, json_pack("{s:s}", "op", "nothing"), NULL, &err) == 0 ||
		err.code != ERROR_USAGE)
		return 3;
	return call(h, json_object(), NULL, &err) == 0 || err.code != ERROR_USAGE ? 4 : 0;
}

static void test_answers(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, ask_and_fail), 0);
	assert_int_equal(f.asked, 1);
}

static int end_it(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;

	return call(h, json_pack("{s:s}", "op", "end"), NULL, &err) == 0 ? 0 : 1;
}

/* The operation frees the server below its own client, which still gets its answer. */
static void test_an_operation_may_end_it(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, end_it), 0);
	assert_null(f.server);
}

static bool somebody_waits(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *answer = NULL;

	return call(h, json_pack("{s:s}", "op", "waiting"), &answer, &err) < 0 ||
	       json_get_int(answer, "waiting", 0) > 0;
}

static int wait_beside_others(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;

	pid_t waiting = fork();
	if (waiting == 0)
		_exit(call(h, json_pack("{s:s}", "op", "wait"), NULL, &err) == 0 ? 0 : 1);
	while (!somebody_waits(h))
		usleep(1000);
	if (ask_and_fail(h) != 0 || waitpid(waiting, NULL, WNOHANG) != 0)
		return 1;
	if (end_it(h) != 0)
		return 2;
	int status = -1;
	return waitpid(waiting, &status, 0) == waiting && status == 0 ? 0 : 3;
}

static void test_waiting_blocks_nobody(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, wait_beside_others), 0);
}

/* Hostile bytes close that connection and no other. */
static int send_rubbish(const struct home *h)
{
	static const struct text rubbish[] = {
		TEXT("\xff\xff\xff\xff"), TEXT("\4\0\0\0nope"), TEXT("\0\0\0\0"), TEXT("\2\0")};

	for (size_t i = 0; i < ARRAY_SIZE(rubbish); i++) {
		struct sockaddr_un a = {.sun_family = AF_UNIX};
		snprintf(a.sun_path, sizeof(a.sun_path), "%s/" HANDLE ".sock", h->sockets);
		auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
			write(fd, rubbish[i].p, rubbish[i].len) != (ssize_t)rubbish[i].len)
			return 10;
		shutdown(fd, SHUT_WR);
		char buffer[4096];
		while (read(fd, buffer, sizeof(buffer)) > 0)
			;
	}
	return ask_and_fail(h);
}

static void test_rubbish(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, send_rubbish), 0);
}

/* A connection that is kept: the answer, and then nothing but what the operation sends. */
static int be_kept(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *request = json_pack("{s:s}", "op", "keep");
	auto_json *refused = json_pack("{s:s}", "op", "refuse");
	char bytes[8];
	int fd = -1;

	if (control_keep(h, HANDLE, refused, 5000, &fd, &err) == 0 || fd != -1 ||
		err.code != ERROR_SIGNAL_INVALID)
		return 1;
	error_clear(&err);
	if (control_keep(h, HANDLE, request, 5000, &fd, &err) < 0)
		return 2;
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_WAITALL);
	close(fd);
	return n == 1 && bytes[0] == 'n' ? 0 : 3;
}

static void test_kept(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, be_kept), 0);
	assert_int_equal(f.kept, 1);
	/* A kept one counts as no client: there can be any number of them. */
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(serve(&f, be_kept), 0);
}

static int send_early(const struct home *h)
{
	AUTO(str) out = STR_INIT(CONTROL_MESSAGE_MAX);
	auto_json *request = json_pack("{s:s}", "op", "keep");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char bytes[64];

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/" HANDLE ".sock", h->sockets);
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	control_encode(&out, request);
	str_add_text(&out, "early");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
		send(fd, out.data, out.len, 0) != (ssize_t)out.len)
		return 1;
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_WAITALL);
	return n > 6 && memcmp(bytes + n - 6, "nearly", 6) == 0 ? 0 : 2;
}

static void test_early_bytes(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, send_early), 0);
}

static int send_bytes(const struct home *h, size_t n, const char *say, struct error *err)
{
	auto_json *request =
		json_pack("{s:s, s:I, s:s}", "op", "bytes", "size", (json_int_t)n, "say", say);
	auto_free char *bytes = malloc(n + 1);

	memset(bytes, '{', n);
	return control_call_bytes(h, HANDLE, request, (struct text){bytes, n}, err);
}

static int with_bytes(const struct home *h)
{
	static const size_t sizes[] = {0, 1, 3000, 4096, 65536, BYTES_MAX};
	auto_error struct error err = ERROR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (send_bytes(h, sizes[i], "yes", &err) < 0)
			return 1;
	if (send_bytes(h, 10, "no", &err) == 0 || err.code != ERROR_SIGNAL_INVALID)
		return 2;
	if (send_bytes(h, BYTES_MAX + 1, "yes", &err) == 0 || err.code != ERROR_SECRET_TOO_LARGE)
		return 3;
	return ask_and_fail(h);
}

/* On one connection: bytes that look like messages, in whatever pieces, and what follows them. */
static int bytes_in_pieces(const struct home *h)
{
	static const char rest[] = "\xff\xff\xff\xff{\"op\":\"end\"}";
	AUTO(str) out = STR_INIT(CONTROL_MESSAGE_MAX);
	auto_json *request =
		json_pack("{s:s, s:I}", "op", "bytes", "size", (json_int_t)sizeof(rest) - 1);
	auto_json *echo = json_pack("{s:s, s:s}", "op", "echo", "say", "after");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	AUTO(str) got = STR_INIT(CONTROL_MESSAGE_MAX);
	auto_error struct error err = ERROR_INIT;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/" HANDLE ".sock", h->sockets);
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return 1;
	control_encode(&out, request);
	str_add(&out, rest, sizeof(rest) - 1);
	control_encode(&out, echo);
	for (size_t i = 0; i < out.len; i++) {
		if (send(fd, out.data + i, 1, 0) != 1)
			return 2;
		usleep(i % 7 ? 0 : 200);
	}
	for (unsigned answers = 0; answers < 2;) {
		auto_json *answer = NULL;
		char *room = str_reserve(&got, 4096);
		ssize_t n = recv(fd, room, 4096, 0);
		if (n <= 0)
			return 3;
		got.len += (size_t)n;
		while (answers < 2 && control_decode(&got, &answer, &err) == 1) {
			bool fine = answers == 0 ? json_get_int(answer, "got", 0) ==
							   (int64_t)sizeof(rest) - 1
						 : text_is(json_get_text(answer, "said"), "after");
			json_decref(TAKE_PTR(answer));
			if (!fine)
				return 4;
			answers++;
		}
	}
	return 0;
}

static void test_bytes_follow(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, with_bytes), 0);
	assert_int_equal(serve(&f, bytes_in_pieces), 0);
	assert_int_equal(f.asked, 10);
}

static int ask_late(const struct home *h, const char *outcome, bool now)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *answer = NULL;

	if (call(h, json_pack("{s:s, s:s, s:b}", "op", "late", "say", "hello", "now", now), &answer,
		    &err) < 0)
		return 1;
	return text_is(json_get_text(answer, "said"), "hello") &&
			       text_is(json_get_text(answer, "outcome"), outcome)
		       ? 0
		       : 2;
}

static int wait_late(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	int status = -1;

	pid_t waiting = fork();
	if (waiting == 0)
		_exit(ask_late(h, "done", false));
	while (!somebody_waits(h))
		usleep(1000);
	/* An end of everything else, and an error, do not reach it. */
	if (ask_and_fail(h) != 0 || waitpid(waiting, NULL, WNOHANG) != 0)
		return 1;
	(void)!call(h, json_pack("{s:s}", "op", "settle"), NULL, &err);
	return waitpid(waiting, &status, 0) == waiting && status == 0 ? 0 : 2;
}

static int answered_early(const struct home *h)
{
	return ask_late(h, "early", false);
}

static int answered_now(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *answer = NULL;

	return call(h, json_pack("{s:s, s:s, s:b}", "op", "late", "say", "x", "now", 1), &answer,
		       &err) == 0 &&
			       text_is(json_get_text(answer, "said"), "x") &&
			       !json_object_get(answer, "outcome")
		       ? 0
		       : 1;
}

static int refused_late(const struct home *h)
{
	auto_error struct error err = ERROR_INIT;

	return call(h, json_pack("{s:s}", "op", "late"), NULL, &err) < 0 &&
			       err.code == ERROR_SIGNAL_INVALID
		       ? 0
		       : 1;
}

static void test_late(void **unused)
{
	__attribute__((cleanup(fixture_done))) struct fixture f;

	(void)unused;
	fixture_init(&f);
	assert_int_equal(serve(&f, answered_now), 0);
	f.no = true;
	assert_int_equal(serve(&f, refused_late), 0);
	f.no = false;
	f.at_once = true;
	assert_int_equal(serve(&f, answered_early), 0);
	f.at_once = false;
	f.waiting = 0;
	assert_int_equal(serve(&f, wait_late), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_an_operation_may_end_it),
		cmocka_unit_test(test_waiting_blocks_nobody),
		cmocka_unit_test(test_rubbish),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_early_bytes),
		cmocka_unit_test(test_bytes_follow),
		cmocka_unit_test(test_late),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
