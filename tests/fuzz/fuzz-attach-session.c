/*
 * What a supervisor reads from an attached client, in any pieces: what reaches a program's stdin is
 * the bytes of the stdin frames before the first thing that is none, in order, and nothing at all
 * on a session that only shows; something that is no frame ends the session, and what is told to
 * the client is frames.
 */
#include <assert.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "executor/container/supervise/attach-session.h"
#include "executor/container/supervise/supervisor.h"

/* All that the client meant to type, and whether it broke the format. */
static bool model(struct text rest, bool write, struct str *typed)
{
	struct attach_frame f;
	enum attach_state state;
	bool ended = !write;

	while ((state = attach_frame_decode(&rest, &f)) == ATTACH_FRAME) {
		if (!attach_type_to_shim(f.type))
			return true;
		if (f.type == ATTACH_STDIN && !ended)
			str_add(typed, f.data.p, f.data.len);
		ended = ended || f.type == ATTACH_EOF;
	}
	return state == ATTACH_INVALID;
}

struct bench {
	struct supervisor s;
	struct attach_session *x;
	int client, program; /* the other ends */
};

static void open_bench(struct bench *b, bool write)
{
	auto_error struct error err = ERROR_INIT;
	struct attach_request r = {.write = write, .argc = 1, .argv_len = 2, .argv = "x"};
	int fds[2], pipe_ends[2];

	*b = (struct bench){.s = {.init_fd = -1, .mute = true, .phase = PHASE_RUNNING}};
	b->s.loop = loop_new(&err);
	b->s.output.redactor = redactor_new();
	b->s.output.scratch = STR_INIT(SIZE_MAX / 2);
	int r1 = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds);
	int r2 = pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK);
	assert(r1 == 0 && r2 == 0);
	b->client = fds[0];
	b->program = pipe_ends[0];
	b->x = attach_session_new(&b->s, &r, fds[1], (struct text){"", 0});
	b->x->id = 1;
	b->x->stage = ATTACH_OPEN;
	b->s.sessions[0] = b->x;
	if (write)
		attach_session_set_input(b->x, pipe_ends[1]);
	else
		close(pipe_ends[1]);
}

static void close_bench(struct bench *b)
{
	attach_done(&b->s);
	close(b->client);
	close(b->program);
	redactor_free(b->s.output.redactor);
	str_done(&b->s.output.scratch);
	loop_free(b->s.loop);
}

static void read_program(const struct bench *b, struct str *got)
{
	char buffer[65536];
	ssize_t n;

	while ((n = read(b->program, buffer, sizeof(buffer))) > 0)
		str_add(got, buffer, (size_t)n);
}

/* As the loop would: what came, and what can go on. */
static void serve(struct bench *b, struct str *got)
{
	struct attach_session *x = b->x;

	for (unsigned i = 0; i < 8 && !x->hung_up; i++) {
		if (attach_connection_can_read(&x->client) && !attach_connection_read(&x->client))
			attach_session_hang_up(x);
		attach_session_settle(x);
		read_program(b, got);
	}
}

static void check_told(const struct bench *b)
{
	AUTO(str) told = STR_INIT(8 << 20);
	char buffer[65536];
	struct attach_frame f;
	ssize_t n;

	while ((n = recv(b->client, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
		str_add(&told, buffer, (size_t)n);
	struct text rest = {str_text(&told), told.len};
	enum attach_state state;
	while ((state = attach_frame_decode(&rest, &f)) == ATTACH_FRAME)
		assert(f.type == ATTACH_ERROR);
	assert(state == ATTACH_OK || (state == ATTACH_MORE && !b->x->hung_up));
}

static void try_client(struct text bytes, size_t step, bool write)
{
	AUTO(str) want = STR_INIT(1 << 20);
	AUTO(str) got = STR_INIT(1 << 20);
	bool broken = model(bytes, write, &want);
	struct bench b;

	open_bench(&b, write);
	for (size_t at = 0; at < bytes.len; at += step) {
		size_t n = bytes.len - at < step ? bytes.len - at : step;
		(void)!send(b.client, bytes.p + at, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		serve(&b, &got);
	}
	assert(b.x->hung_up == broken);
	assert(got.len == want.len && memcmp(str_text(&got), str_text(&want), got.len) == 0);
	check_told(&b);
	close_bench(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = {(const char *)data, size};

	/* What a socket and a pipe take at once: nothing is lost here that a loop would carry. */
	if (size > 32768)
		return 0;
	try_client(bytes, size / 3 + 1, true);
	try_client(bytes, size + 1, false);
	return 0;
}
