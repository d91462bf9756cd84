#include "executor/container/supervise/attach-session.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/enum-text.h"
#include "base/mem.h"
#include "executor/container/supervise/attach.h"
#include "executor/container/supervise/supervisor.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum {
	READ_SIZE = 32 << 10,
	ROOM = 128 << 10,
	ROOM_AT_END = 1 << 20, /* more than all that pipes and terminals can hold */
	LATE_MAX = ROOM_AT_END,
	SOON_MS = 1000, /* of the faults attach:idle, attach:stuck */
};

static const char end_of_file = 'D' & 0x1f; /* ^D */

static const char *const reasons[] = {
	[ATTACH_ENDED] = "ended",
	[ATTACH_CLOSED] = "closed",
	[ATTACH_IDLE] = "idle",
	[ATTACH_RUN_ENDED] = "run_ended",
};

static void close_input(struct attach_session *x)
{
	loop_remove(TAKE_PTR(x->input_source));
	if (x->input >= 0)
		close(x->input);
	x->input = -1;
	str_reset(&x->typed);
	x->typed_done = 0;
}

static void close_output(struct attach_output *o)
{
	loop_remove(TAKE_PTR(o->source));
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}

static void on_idle(void *data);

static void arm_idle(struct attach_session *x)
{
	x->idle = loop_at(x->owner->loop, x->last_input + x->idle_ms, on_idle, x);
}

struct attach_session *attach_session_new(
	struct supervisor *s, const struct attach_request *r, int fd, struct text early)
{
	struct attach_session *x = mem_alloc(sizeof(*x));

	*x = (struct attach_session){.owner = s,
		.tty = r->tty,
		.write = r->write,
		.rows = r->rows,
		.cols = r->cols,
		.word = mem_strdup(r->argv),
		.client = ATTACH_CONNECTION_INIT,
		.room = ROOM,
		.input = -1,
		.typed = STR_INIT(ATTACH_PAYLOAD_MAX),
		.last_input = clock_boottime_ms(),
		.stuck_ms = fault_hit("attach:stuck") ? SOON_MS : ATTACH_STUCK_MS,
		.idle_ms = fault_hit("attach:idle") ? SOON_MS : ATTACH_IDLE_MS,
		.left = -1};
	for (size_t i = 0; i < ATTACH_OUTPUTS; i++)
		x->outputs[i] = (struct attach_output){
			.owner = x, .type = i == 0 ? ATTACH_OUTPUT : ATTACH_STDERR, .fd = -1};
	x->client.fd = fd;
	str_add(&x->client.in, early.p, early.len);
	arm_idle(x);
	return x;
}

void attach_session_free(struct attach_session *x)
{
	loop_remove(TAKE_PTR(x->client_source));
	loop_remove(TAKE_PTR(x->stuck));
	loop_remove(TAKE_PTR(x->idle));
	loop_remove(TAKE_PTR(x->again));
	close_input(x);
	for (size_t i = 0; i < ATTACH_OUTPUTS; i++) {
		close_output(&x->outputs[i]);
		redact_stream_free(x->outputs[i].redact);
	}
	attach_exec_free(x->exec);
	attach_connection_done(&x->client);
	str_done(&x->typed);
	free(x->word);
	free(x);
}

/* Asks the init once; a session that is over needs nothing. */
static void close_inside(struct attach_session *x, enum attach_reason reason)
{
	if (x->stage == ATTACH_CLOSING || x->stage == ATTACH_OVER)
		return;
	x->stage = ATTACH_CLOSING;
	x->reason = reason;
	attach_ask_close(x);
}

static void on_idle(void *data)
{
	struct attach_session *x = data;

	x->idle = NULL;
	if (clock_boottime_ms() - x->last_input < x->idle_ms)
		arm_idle(x);
	else
		close_inside(x, ATTACH_IDLE);
	attach_session_settle(x);
}

void attach_session_hang_up(struct attach_session *x)
{
	if (x->hung_up)
		return;
	x->hung_up = true;
	loop_remove(TAKE_PTR(x->client_source));
	loop_remove(TAKE_PTR(x->stuck));
	attach_connection_close(&x->client);
	/*
	 * The ends inside stay open until it is over, and what comes is read and forgotten: a
	 * terminal that goes away ends the leader before the init has seen whose parent it is.
	 */
	close_inside(x, ATTACH_CLOSED);
}

void attach_session_tell(struct attach_session *x, const struct error *err)
{
	auto_json *envelope = error_to_json(err);

	attach_connection_add_json(&x->client, ATTACH_ERROR, envelope);
}

void attach_session_resize(struct attach_session *x, uint16_t rows, uint16_t cols)
{
	x->rows = attach_request_side(rows, x->rows);
	x->cols = attach_request_side(cols, x->cols);
	struct winsize size = {.ws_row = x->rows, .ws_col = x->cols};
	if (x->tty && x->outputs[0].fd >= 0)
		ioctl(x->outputs[0].fd, TIOCSWINSZ, &size);
}

void attach_session_set_input(struct attach_session *x, int fd)
{
	x->input = fd;
}

void attach_session_set_output(struct attach_session *x, size_t i, int fd)
{
	x->outputs[i].fd = fd;
}

/* What was typed goes inside; a program that closed its input gets no more. */
static void write_typed(struct attach_session *x)
{
	while (x->input >= 0 && x->typed_done < x->typed.len) {
		ssize_t n = write(
			x->input, x->typed.data + x->typed_done, x->typed.len - x->typed_done);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR)
			close_input(x);
		if (n > 0)
			x->typed_done += (size_t)n;
	}
	if (x->typed_done < x->typed.len)
		return;
	str_reset(&x->typed);
	x->typed_done = 0;
	if (x->eof && !x->tty)
		close_input(x);
}

static bool takes_input(const struct attach_session *x)
{
	return x->write && !x->eof && (x->input >= 0 || x->stage == ATTACH_OPENING);
}

static void refuse_input(struct attach_session *x)
{
	auto_error struct error err = ERROR_INIT;

	/* One who sends on and on without reading is not answered on and on. */
	if (attach_connection_waiting(&x->client) >= x->room)
		return;
	error_set(&err, ERROR_ATTACH_READ_ONLY, "this session only shows: input is not passed on");
	attach_session_tell(x, &err);
}

/* False: not now, what came before is still on its way. */
static bool type(struct attach_session *x, struct text bytes)
{
	if (!x->write)
		refuse_input(x);
	if (!takes_input(x))
		return true;
	if (x->typed.len > 0)
		return false;
	x->last_input = clock_boottime_ms();
	str_add(&x->typed, bytes.p, bytes.len);
	write_typed(x);
	return true;
}

static bool end_input(struct attach_session *x)
{
	if (!takes_input(x))
		return true;
	if (x->tty)
		return type(x, (struct text){&end_of_file, 1});
	x->eof = true;
	write_typed(x);
	return true;
}

/* One frame of the client; false: it has to wait. */
static bool obey(struct attach_session *x, const struct attach_frame *f)
{
	switch (f->type) {
	case ATTACH_STDIN:
		return type(x, f->data);
	case ATTACH_EOF:
		return end_input(x);
	case ATTACH_RESIZE:
		attach_session_resize(x, f->rows, f->cols);
		return true;
	case ATTACH_CLOSE:
		close_inside(x, ATTACH_CLOSED);
		return true;
	case ATTACH_READY:
	case ATTACH_OUTPUT:
	case ATTACH_STDERR:
	case ATTACH_EXIT:
	case ATTACH_ERROR:
	case ATTACH_TYPE_COUNT:
	default:
		return true;
	}
}

static void break_off(struct attach_session *x)
{
	auto_error struct error err = ERROR_INIT;

	error_set(&err, ERROR_USAGE, "the client sent something that is no frame of a session");
	attach_session_tell(x, &err);
	(void)!attach_connection_flush(&x->client);
	attach_session_hang_up(x);
}

/* The frames that came, as far as they can be obeyed. */
static void feed(struct attach_session *x)
{
	struct attach_frame f;
	enum attach_state state;

	while ((state = attach_connection_next(&x->client, &f)) == ATTACH_FRAME) {
		if (!attach_type_to_shim(f.type)) {
			break_off(x);
			return;
		}
		if (!obey(x, &f))
			return;
		attach_connection_take(&x->client);
	}
	if (state == ATTACH_INVALID)
		break_off(x);
}

static bool has_room(const struct attach_session *x)
{
	return attach_connection_waiting(&x->client) < x->room;
}

static void pass_on(struct attach_output *o, struct text shown)
{
	if (shown.len > 0)
		attach_connection_add(&o->owner->client, o->type, shown);
}

static void end_output(struct attach_output *o)
{
	if (o->redact)
		pass_on(o, redact_stream_end(o->redact, &o->owner->owner->output.scratch));
	close_output(o);
}

/* One read; false: there is nothing now. */
static bool read_output(struct attach_output *o)
{
	struct output *shared = &o->owner->owner->output;
	char buffer[READ_SIZE];
	ssize_t n = read(o->fd, buffer, sizeof(buffer));

	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		/* A terminal that nobody has open now may be opened again. */
		o->silent = true;
		if (!o->owner->tty)
			end_output(o);
		return false;
	}
	struct text shown = {buffer, (size_t)n};
	if (o->owner->stage == ATTACH_OVER)
		o->late += shown.len;
	if (!o->redact && !redactor_empty(shared->redactor))
		o->redact = redact_stream_new(shared->redactor);
	pass_on(o, o->redact ? redact_stream_write(o->redact, shown, &shared->scratch) : shown);
	return true;
}

/*
 * What is left in the pipes of a session that is over, as far as the client takes it: they hold no
 * more than LATE_MAX, so what comes behind that was written since, by a process that took an end.
 */
static void drain(struct attach_session *x)
{
	for (size_t i = 0; i < ATTACH_OUTPUTS; i++) {
		struct attach_output *o = &x->outputs[i];
		while (o->fd >= 0 && has_room(x))
			if ((!read_output(o) || o->late >= LATE_MAX) && o->fd >= 0)
				end_output(o);
		if (o->fd >= 0)
			return;
	}
	if (x->told)
		return;
	x->told = true;
	auto_json *left = x->left < 0 ? json_null() : json_integer(x->left);
	auto_json *exit = json_pack("{s:i, s:O, s:s}", "exit_code", x->exit_code, "left", left,
		"reason", reasons[x->reason]);
	if (x->exited)
		attach_connection_add_json(&x->client, ATTACH_EXIT, exit);
}

static void on_stuck(void *data)
{
	struct attach_session *x = data;

	x->stuck = NULL;
	attach_session_hang_up(x);
	attach_session_settle(x);
}

static void flush(struct attach_session *x)
{
	ssize_t sent = attach_connection_flush(&x->client);

	if (sent < 0) {
		attach_session_hang_up(x);
		return;
	}
	bool waiting = attach_connection_waiting(&x->client) > 0;
	if (sent > 0 || !waiting)
		loop_remove(TAKE_PTR(x->stuck));
	if (!waiting || x->stuck)
		return;
	x->stuck = loop_at(x->owner->loop, clock_boottime_ms() + x->stuck_ms, on_stuck, x);
}

static void on_client(void *data, uint32_t events)
{
	struct attach_session *x = data;

	if (events & EPOLLIN) {
		if (!attach_connection_read(&x->client))
			attach_session_hang_up(x);
	} else if (events & (EPOLLHUP | EPOLLERR)) {
		attach_session_hang_up(x);
	}
	attach_session_settle(x);
}

static void on_input(void *data, uint32_t events)
{
	struct attach_session *x = data;

	(void)events;
	write_typed(x);
	attach_session_settle(x);
}

static void on_output(void *data, uint32_t events)
{
	struct attach_output *o = data;

	(void)events;
	(void)read_output(o);
	attach_session_settle(o->owner);
}

static void watch_client(struct attach_session *x)
{
	uint32_t events = 0;

	if (x->client.fd < 0)
		return;
	if (attach_connection_can_read(&x->client))
		events |= EPOLLIN;
	if (attach_connection_waiting(&x->client) > 0)
		events |= EPOLLOUT;
	if (x->client_source)
		loop_change(x->client_source, events);
	else
		x->client_source = loop_watch(x->owner->loop, x->client.fd, events, on_client, x);
}

/* A descriptor that is not waited for is not watched: its end would be told over and over. */
static void watch_inside(struct attach_session *x)
{
	bool wants = x->input >= 0 && x->typed.len > 0;

	if (wants && !x->input_source)
		x->input_source = loop_watch(x->owner->loop, x->input, EPOLLOUT, on_input, x);
	else if (!wants)
		loop_remove(TAKE_PTR(x->input_source));
	for (size_t i = 0; i < ATTACH_OUTPUTS; i++) {
		struct attach_output *o = &x->outputs[i];
		wants = o->fd >= 0 && !o->silent && has_room(x) && x->stage != ATTACH_OVER;
		if (wants && !o->source)
			o->source = loop_watch(x->owner->loop, o->fd, EPOLLIN, on_output, o);
		else if (!wants)
			loop_remove(TAKE_PTR(o->source));
	}
}

void attach_session_over(struct attach_session *x, int exit_code, int64_t left)
{
	x->stage = ATTACH_OVER;
	x->exited = true;
	x->exit_code = exit_code;
	x->left = left;
	close_input(x);
	if (x->reason == ATTACH_RUN_ENDED)
		x->room = ROOM_AT_END;
}

void attach_session_broken(struct attach_session *x, const struct error *err)
{
	attach_session_tell(x, err);
	x->stage = ATTACH_OVER;
	close_input(x);
}

void attach_session_settle(struct attach_session *x)
{
	if (x->stage == ATTACH_OVER)
		drain(x);
	flush(x);
	feed(x);
	if (x->stage == ATTACH_OVER)
		drain(x);
	flush(x);
	if (x->stage == ATTACH_OVER &&
		(x->hung_up || (x->told && attach_connection_waiting(&x->client) == 0))) {
		attach_release(x);
		return;
	}
	watch_client(x);
	watch_inside(x);
}
