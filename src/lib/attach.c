/*
 * A session for a caller (include/cloop/attach.h). One thread at a time, but reading and writing
 * must not wait for each other for ever: while a write waits for the session to take it, output
 * that comes is read into memory (`in`, one frame), and a session whose caller reads nothing stops
 * taking input then.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "executor/container/driver/attach.h"
#include "executor/rundir/attach-connection.h"
#include "lib/run.h"
#include "lib/strings.h"
#include "sys/clock.h"

enum { CLOSE_WITHIN_MS = 10000, WAITING_MAX = 65536 };

struct cloop_attach {
	struct attach_connection connection;
	bool write, tty, ended;
	int exit_code; /* -1 = not known */
	size_t used;   /* bytes of the first frame that the caller has already */
	struct error failure;
};

void cloop_attach_request_init(struct cloop_attach_request *request)
{
	if (request)
		memset(request, 0, sizeof(*request));
}

static void release(struct cloop_attach *a)
{
	attach_connection_done(&a->connection);
	error_done(&a->failure);
	free(a);
}

/* ---- What the session says ---- */

static void end(struct cloop_attach *a)
{
	a->ended = true;
	attach_connection_close(&a->connection);
}

static void take_exit(struct cloop_attach *a, struct text payload)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *j =
		json_read(payload, ATTACH_PAYLOAD_MAX, "the session's end", ERROR_IO, &ignored);

	a->exit_code = (int)json_get_int(j, "exit_code", -1);
	end(a);
}

/* One that refuses input does not end the session. */
static void take_error(struct cloop_attach *a, struct text payload)
{
	auto_error struct error ignored = ERROR_INIT;
	auto_json *j =
		json_read(payload, ATTACH_PAYLOAD_MAX, "the session's error", ERROR_IO, &ignored);

	error_from_json(&a->failure, j);
	if (error_is(&a->failure, ERROR_ATTACH_READ_ONLY))
		error_clear(&a->failure);
	else
		end(a);
}

/* The first frame that is output; others are taken. False: none is there. */
static bool next_output(struct cloop_attach *a, struct attach_frame *ret)
{
	while (attach_connection_next(&a->connection, ret) == ATTACH_FRAME) {
		if ((ret->type == ATTACH_OUTPUT || ret->type == ATTACH_STDERR) && ret->data.len > 0)
			return true;
		if (ret->type == ATTACH_EXIT)
			take_exit(a, ret->data);
		else if (ret->type == ATTACH_ERROR)
			take_error(a, ret->data);
		if (a->ended)
			return false;
		attach_connection_take(&a->connection);
	}
	if (attach_connection_next(&a->connection, ret) == ATTACH_INVALID)
		end(a);
	return false;
}

/* ---- Waiting ---- */

/* Reads and sends what goes without waiting. */
static void move(struct cloop_attach *a)
{
	struct attach_frame frame;

	if (attach_connection_waiting(&a->connection) > 0)
		(void)!attach_connection_flush(&a->connection);
	if (attach_connection_can_read(&a->connection) && !attach_connection_read(&a->connection) &&
		!next_output(a, &frame))
		end(a);
}

/* Until the connection can do one of the two; -1: `cancelled`, `io`. */
static int wait_for(struct cloop_attach *a, const struct cloop_cancel *cancel, struct error *err)
{
	short events = 0;

	if (attach_connection_can_read(&a->connection))
		events |= POLLIN;
	if (attach_connection_waiting(&a->connection) > 0)
		events |= POLLOUT;
	return lib_cancel_wait(cancel, a->connection.fd, events, err);
}

/* ---- Opening ---- */

/* The first frame says whether there is a session. */
static int await_ready(struct cloop_attach *a, const struct cloop_cancel *cancel, struct error *err)
{
	struct attach_frame frame;

	for (;;) {
		enum attach_state state = attach_connection_next(&a->connection, &frame);
		if (state == ATTACH_FRAME && frame.type == ATTACH_READY) {
			attach_connection_take(&a->connection);
			return 0;
		}
		if (state == ATTACH_FRAME && frame.type == ATTACH_ERROR)
			take_error(a, frame.data);
		if (a->failure.code != ERROR_NONE) {
			error_move(err, &a->failure);
			return -1;
		}
		if (a->ended || state == ATTACH_FRAME || state == ATTACH_INVALID)
			return error_set(err, ERROR_ATTACH_CLOSED, "the session did not begin");
		if (wait_for(a, cancel, err) < 0)
			return -1;
		if (!attach_connection_read(&a->connection))
			a->ended = true;
	}
}

static int open_session(struct cloop_container *container, const struct cloop_cancel *cancel,
	const struct cloop_attach_request *request, struct cloop_attach *a, struct error *err)
{
	AUTO(lib_run) run = LIB_RUN_INIT;
	struct lib_call call;
	AUTO(strv) argv = STRV_INIT(ATTACH_WORDS_MAX + 1);
	struct attach_wish wish = {.tty = request->tty,
		.write = request->write,
		.rows = request->rows,
		.cols = request->columns};

	lib_call_begin(container, cancel, &call);
	if (lib_cancel_check(cancel, err) < 0)
		return -1;
	if (lib_strings_take(request->argv, &argv) < 0)
		return error_set(err, ERROR_ARGV_TOO_LARGE, "more than %d words", ATTACH_WORDS_MAX);
	wish.argv = argv.v;
	if (lib_run_open(&call, request->handle, &run, err) < 0 ||
		attach_open(&run.home, &run.dir, &wish, &a->connection.fd, err) < 0)
		return -1;
	return await_ready(a, cancel, err);
}

int cloop_container_attach(struct cloop_container *container, const struct cloop_cancel *cancel,
	const struct cloop_attach_request *request, struct cloop_attach **attach,
	struct cloop_error *err)
{
	LIB_ERROR(e, err);
	LIB_GIVE_UP(cancel);

	if (LIB_MISSING(e, container, request, attach))
		return -1;
	struct cloop_attach *a = mem_alloc(sizeof(*a));
	a->connection = ATTACH_CONNECTION_INIT;
	a->write = request->write;
	a->tty = request->tty;
	a->exit_code = -1;
	if (open_session(container, cancel, request, a, e) < 0) {
		release(a);
		return -1;
	}
	*attach = a;
	return 0;
}

/* ---- Output ---- */

int cloop_attach_fd(const struct cloop_attach *attach)
{
	return attach ? attach->connection.fd : -1;
}

int cloop_attach_exit_code(const struct cloop_attach *attach)
{
	return attach ? attach->exit_code : -1;
}

static size_t give(struct cloop_attach *a, const struct attach_frame *f, void *buffer, size_t room)
{
	struct text rest = text_after(f->data, a->used);
	size_t n = rest.len < room ? rest.len : room;

	memcpy(buffer, rest.p, n);
	a->used += n;
	if (a->used == f->data.len) {
		a->used = 0;
		attach_connection_take(&a->connection);
	}
	return n;
}

/* 1, or -1 with what the session met. */
static int conclude(const struct cloop_attach *a, struct error *err)
{
	if (a->failure.code == ERROR_NONE && a->exit_code < 0)
		return error_set(err, ERROR_ATTACH_CLOSED,
			"the run's supervisor went away: the session is over, the run is not");
	if (a->failure.code == ERROR_NONE)
		return 1;
	error_set(err, a->failure.code, "%s", a->failure.message);
	if (a->failure.remedy[0])
		error_set_remedy(err, "%s", a->failure.remedy);
	return -1;
}

int cloop_attach_read(struct cloop_attach *attach, const struct cloop_cancel *cancel, void *buffer,
	size_t capacity, size_t *size, enum cloop_log_stream *stream, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct attach_frame frame;

	if (LIB_MISSING(e, attach, buffer, size, stream))
		return -1;
	if (capacity == 0)
		return error_set(e, ERROR_USAGE, "output needs room");
	while (!next_output(attach, &frame)) {
		if (attach->ended)
			return conclude(attach, e);
		if (wait_for(attach, cancel, e) < 0)
			return -1;
		move(attach);
	}
	*stream = frame.type == ATTACH_STDERR ? CLOOP_LOG_STDERR : CLOOP_LOG_STDOUT;
	*size = give(attach, &frame, buffer, capacity);
	return 0;
}

/* ---- Input ---- */

static int check_input(const struct cloop_attach *a, struct error *err)
{
	if (a->ended)
		return error_set(err, ERROR_ATTACH_CLOSED, "the session has ended");
	return a->write ? 0 : error_set(err, ERROR_ATTACH_READ_ONLY, "the session takes no input");
}

/* Until everything that waits is sent. */
static int send_all(struct cloop_attach *a, const struct cloop_cancel *cancel, struct error *err)
{
	while (attach_connection_waiting(&a->connection) > 0) {
		if (attach_connection_flush(&a->connection) < 0)
			end(a);
		if (a->ended)
			return error_set(err, ERROR_ATTACH_CLOSED, "the session has ended");
		if (attach_connection_waiting(&a->connection) == 0)
			break;
		if (wait_for(a, cancel, err) < 0)
			return -1;
		if (attach_connection_can_read(&a->connection) &&
			!attach_connection_read(&a->connection))
			return error_set(err, ERROR_ATTACH_CLOSED, "the session has ended");
	}
	return 0;
}

int cloop_attach_write(struct cloop_attach *attach, const struct cloop_cancel *cancel,
	const void *data, size_t size, struct cloop_error *err)
{
	LIB_ERROR(e, err);
	struct text rest = {data, size};

	if (LIB_MISSING(e, attach) || (size > 0 && LIB_MISSING(e, data)))
		return -1;
	if (lib_cancel_check(cancel, e) < 0 || check_input(attach, e) < 0)
		return -1;
	while (rest.len > 0) {
		size_t n = rest.len < WAITING_MAX ? rest.len : WAITING_MAX;
		attach_connection_add(&attach->connection, ATTACH_STDIN, (struct text){rest.p, n});
		if (send_all(attach, cancel, e) < 0)
			return -1;
		rest = text_after(rest, n);
	}
	return 0;
}

int cloop_attach_close_input(
	struct cloop_attach *attach, const struct cloop_cancel *cancel, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	if (LIB_MISSING(e, attach) || lib_cancel_check(cancel, e) < 0 || check_input(attach, e) < 0)
		return -1;
	attach_connection_add(&attach->connection, ATTACH_EOF, TEXT(""));
	return send_all(attach, cancel, e);
}

int cloop_attach_resize(struct cloop_attach *attach, const struct cloop_cancel *cancel,
	uint16_t rows, uint16_t columns, struct cloop_error *err)
{
	LIB_ERROR(e, err);

	if (LIB_MISSING(e, attach) || lib_cancel_check(cancel, e) < 0)
		return -1;
	if (attach->ended)
		return error_set(e, ERROR_ATTACH_CLOSED, "the session has ended");
	if (!attach->tty)
		return 0;
	attach_connection_add_size(&attach->connection, rows, columns);
	return send_all(attach, cancel, e);
}

/* ---- The end ---- */

/* The end is told once everything that the session started is gone. */
static void await_end(struct cloop_attach *a)
{
	int64_t until = clock_boottime_ms() + CLOSE_WITHIN_MS;
	struct attach_frame frame;

	while (!a->ended && clock_boottime_ms() < until) {
		struct pollfd p = {.fd = a->connection.fd,
			.events =
				(short)(POLLIN |
					(attach_connection_waiting(&a->connection) ? POLLOUT : 0))};
		while (next_output(a, &frame))
			attach_connection_take(&a->connection);
		if (!a->ended && poll(&p, 1, (int)(until - clock_boottime_ms())) > 0)
			move(a);
	}
}

void cloop_attach_free(struct cloop_attach *attach)
{
	if (!attach)
		return;
	if (!attach->ended) {
		attach_connection_add(&attach->connection, ATTACH_CLOSE, TEXT(""));
		await_end(attach);
	}
	release(attach);
}
