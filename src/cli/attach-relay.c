#include "cli/attach-relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/signals.h"
#include "sys/clock.h"

enum {
	READ_SIZE = 32 << 10,
	WAITING_MAX = 64 << 10, /* of our input */
	CLOSING_MS = 7000,      /* the init gives up after five seconds */
};

enum { SOCKET, INPUT, SIGNALS, RESIZED, SOURCES };

static void leave(struct attach_relay *r)
{
	if (r->leaving)
		return;
	r->leaving = true;
	r->input = false;
	r->until = clock_boottime_ms() + CLOSING_MS;
	attach_connection_add(&r->connection, ATTACH_CLOSE, (struct text){"", 0});
}

static void on_signal(void *data)
{
	struct attach_relay *r = data;
	struct signalfd_siginfo info;

	if (read(r->signals, &info, sizeof(info)) != sizeof(info))
		return;
	terminal_restore(&r->terminal);
	r->over = r->signal != 0;
	r->signal = (int)info.ssi_signo;
	r->out.enough = true;
	leave(r);
}

static int watch_size(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void attach_relay_init(struct attach_relay *r, int fd, bool tty, bool write)
{
	*r = (struct attach_relay){.tty = tty,
		.write = write,
		.signals = -1,
		.left = -1,
		.failure = ERROR_INIT,
		.connection = ATTACH_CONNECTION_INIT,
		.terminal = TERMINAL_INIT,
		.resized = -1,
		.input = write};
	r->connection.fd = fd;
	r->out = (struct pass_on){.on_signal = on_signal, .data = r};
}

void attach_relay_done(struct attach_relay *r)
{
	terminal_restore(&r->terminal);
	pass_on_done(&r->out);
	attach_connection_done(&r->connection);
	error_done(&r->failure);
	if (r->resized >= 0)
		close(r->resized);
}

static void on_exit_frame(struct attach_relay *r, const json_t *frame)
{
	const char *reason = json_get_string(frame, "reason");

	r->exited = r->over = true;
	r->exit_code = (int)json_get_int(frame, "exit_code", 1) & 0xff;
	r->left = json_get_int(frame, "left", -1);
	snprintf(r->reason, sizeof(r->reason), "%s", reason ? reason : "");
}

static void on_error_frame(struct attach_relay *r, json_t *frame)
{
	auto_error struct error told = ERROR_INIT;

	error_from_json(&told, frame);
	if (told.code != ERROR_ATTACH_READ_ONLY)
		error_move(&r->failure, &told);
}

static void on_json(struct attach_relay *r, const struct attach_frame *f)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *object = json_read(f->data, ATTACH_PAYLOAD_MAX, "frame", ERROR_INTERNAL, &err);

	if (!object)
		error_move(&r->failure, &err);
	else if (f->type == ATTACH_EXIT)
		on_exit_frame(r, object);
	else if (f->type == ATTACH_ERROR)
		on_error_frame(r, object);
	else if (r->on_ready(r->data, json_get_int(object, "session", 0), &r->failure) < 0)
		leave(r);
}

static void on_frame(struct attach_relay *r, const struct attach_frame *f)
{
	int to = f->type == ATTACH_STDERR ? 2 : 1;

	if (attach_type_to_shim(f->type))
		return;
	if (f->type != ATTACH_OUTPUT && f->type != ATTACH_STDERR) {
		on_json(r, f);
		return;
	}
	pass_on_write(&r->out, to, f->data);
	/* Who reads nothing any more wants no session. */
	if (r->out.gone[1])
		leave(r);
}

static void receive(struct attach_relay *r)
{
	struct attach_frame f;
	enum attach_state state;
	bool there = attach_connection_read(&r->connection);

	while (!r->over && (state = attach_connection_next(&r->connection, &f)) == ATTACH_FRAME) {
		on_frame(r, &f);
		attach_connection_take(&r->connection);
	}
	if (!there || (!r->over && state == ATTACH_INVALID))
		r->over = true;
}

static void read_input(struct attach_relay *r)
{
	char buffer[READ_SIZE];
	ssize_t n = read(0, buffer, sizeof(buffer));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		attach_connection_add(
			&r->connection, ATTACH_STDIN, (struct text){buffer, (size_t)n});
		return;
	}
	r->input = false;
	if (r->tty)
		leave(r);
	else
		attach_connection_add(&r->connection, ATTACH_EOF, (struct text){"", 0});
}

static void tell_size(struct attach_relay *r)
{
	uint16_t rows, columns;

	terminal_size(1, &rows, &columns);
	attach_connection_add_size(&r->connection, rows, columns);
}

static void on_resized(struct attach_relay *r)
{
	struct signalfd_siginfo info;

	(void)!read(r->resized, &info, sizeof(info));
	tell_size(r);
}

static void turn(struct attach_relay *r)
{
	size_t waiting = attach_connection_waiting(&r->connection);
	struct pollfd p[SOURCES] = {
		[SOCKET] = {.fd = r->connection.fd,
			.events = (short)(POLLIN | (waiting > 0 ? POLLOUT : 0))},
		[INPUT] = {.fd = r->input && waiting < WAITING_MAX ? 0 : -1, .events = POLLIN},
		[SIGNALS] = {.fd = r->signals, .events = POLLIN},
		[RESIZED] = {.fd = r->resized, .events = POLLIN},
	};
	int64_t left = r->leaving ? r->until - clock_boottime_ms() : -1;

	if (r->leaving && left <= 0) {
		r->over = true;
		return;
	}
	if (poll(p, SOURCES, (int)left) < 0)
		return;
	if (p[SIGNALS].revents)
		on_signal(r);
	if (p[RESIZED].revents)
		on_resized(r);
	if (p[INPUT].revents && r->input)
		read_input(r);
	if (p[SOCKET].revents & (POLLIN | POLLHUP | POLLERR))
		receive(r);
}

void attach_relay_run(struct attach_relay *r)
{
	r->out.signals = r->signals;
	if (r->tty) {
		r->resized = watch_size();
		tell_size(r); /* it may have changed since it was asked for */
		terminal_raw(&r->terminal, 0, !r->write);
	}
	while (!r->over) {
		/* A connection that takes nothing any more is found at its end of reading. */
		(void)!attach_connection_flush(&r->connection);
		turn(r);
	}
	terminal_restore(&r->terminal);
}
