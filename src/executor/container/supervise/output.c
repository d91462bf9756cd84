#include "executor/container/supervise/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "sys/clock.h"
#include "sys/pipe.h"

/* Reads per turn of one stream, so that the other and the control socket get theirs. */
enum { FIRST_READER_MS = 500, PATIENCE_MS = 1000, PATIENCE_SHARE = 10, PATIENCE_STEP_MS = 2 };
enum { READ_SIZE = LOG_PAYLOAD_MAX, READS_A_TURN = 8, PIPE_SIZE = 256 << 10, MB = 1 << 20 };

static const char *const fifo_names[OUTPUT_STREAMS] = {"stdout.fifo", "stderr.fifo"};

int output_init(struct output *o, struct loop *l, const struct rundir *run, int64_t log_max_mb,
	struct error *err)
{
	*o = (struct output){.loop = l,
		.run_fd = run->fd,
		.patience_ms = PATIENCE_MS,
		.patience_at = clock_boottime_ms(),
		.scratch = STR_INIT(SIZE_MAX / 2)};
	for (size_t i = 0; i < OUTPUT_STREAMS; i++)
		o->streams[i] = (struct output_stream){
			.owner = o, .stream = i == 0 ? LOG_STDOUT : LOG_STDERR, .fd = -1};
	o->redactor = redactor_new();
	return log_writer_open(
		run->fd, (uint64_t)log_max_mb * MB, clock_realtime_ns(), &o->log, err);
}

static void stop_reading(struct output_stream *s)
{
	loop_remove(s->source);
	loop_remove(s->hold);
	s->source = s->hold = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void output_done(struct output *o)
{
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		stop_reading(&o->streams[i]);
		redact_stream_free(o->streams[i].redact);
	}
	loop_remove(o->sync);
	loop_remove(o->wait);
	log_writer_free(o->log);
	redactor_free(o->redactor);
	str_done(&o->scratch);
	free(o->buffer);
	*o = (struct output){0};
}

int output_open(struct output *o, bool chown, uid_t uid, gid_t gid, struct error *err)
{
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		struct output_stream *s = &o->streams[i];
		struct stat st;
		if (mkfifoat(o->run_fd, fifo_names[i], 0600) < 0 && errno != EEXIST)
			return error_set_errno(
				err, ERROR_HOME_UNUSABLE, errno, "making %s", fifo_names[i]);
		s->fd = openat(
			o->run_fd, fifo_names[i], O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
		if (s->fd < 0 || fstat(s->fd, &st) < 0 || !S_ISFIFO(st.st_mode))
			return error_set_errno(
				err, ERROR_HOME_UNUSABLE, errno, "opening %s", fifo_names[i]);
		if (chown && fchown(s->fd, uid, gid) < 0)
			return error_set_errno(err, ERROR_OWNER_NOT_SELF, errno,
				"giving %s to the sandbox", fifo_names[i]);
		fcntl(s->fd, F_SETPIPE_SZ,
			PIPE_SIZE); /* may be refused: a smaller pipe works too */
	}
	return 0;
}

int output_share(struct output *o, struct error *err)
{
	for (size_t i = 0; i < OUTPUT_STREAMS; i++)
		if (fchmod(o->streams[i].fd, 0666) < 0)
			return error_set_errno(
				err, ERROR_HOME_UNUSABLE, errno, "sharing %s", fifo_names[i]);
	return 0;
}

int output_open_ends(struct output *o, int fds[2], struct error *err)
{
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		fds[i] = openat(o->run_fd, fifo_names[i], O_RDWR | O_NOFOLLOW | O_CLOEXEC);
		if (fds[i] < 0) {
			error_set_errno(
				err, ERROR_HOME_UNUSABLE, errno, "opening %s", fifo_names[i]);
			if (i > 0)
				close(fds[0]);
			return -1;
		}
	}
	return 0;
}

void output_take(struct output *o, size_t i, struct str *ret)
{
	size_t left = pipe_waiting(o->streams[i].fd);
	char buffer[4096];
	size_t n;

	while ((n = pipe_read(o->streams[i].fd, buffer, sizeof(buffer), &left)) > 0) {
		size_t room = ret->max - ret->len;
		str_add(ret, buffer, n < room ? n : room);
	}
}

int output_redact(struct output *o, struct text value, struct error *err)
{
	return redactor_add(o->redactor, value, err);
}

static void on_sync(void *data)
{
	struct output *o = data;

	o->sync = NULL;
	log_writer_sync(o->log);
}

static void append(struct output_stream *s, const struct text *parts, size_t n)
{
	struct output *o = s->owner;

	log_writer_append(o->log, s->stream, clock_realtime_ns(), parts, n);
	if (!o->sync)
		o->sync = loop_at(o->loop, clock_boottime_ms() + LOG_WRITER_SYNC_MS, on_sync, o);
}

static void flush_held(struct output_stream *s)
{
	struct text held;

	if (chunker_flush(&s->chunker, &held))
		append(s, &held, 1);
}

static void on_hold(void *data)
{
	struct output_stream *s = data;

	s->hold = NULL;
	flush_held(s);
}

static void write_out(struct output_stream *s, struct text shown)
{
	struct text parts[2];

	loop_remove(s->hold);
	s->hold = NULL;
	while (chunker_next(&s->chunker, &shown, parts))
		append(s, parts, 2);
	if (chunker_holding(&s->chunker))
		s->hold =
			loop_at(s->owner->loop, clock_boottime_ms() + CHUNKER_HOLD_MS, on_hold, s);
}

static void on_wait(void *data)
{
	struct output *o = data;

	o->wait = NULL;
	output_start(o);
}

/* May a reader be waited for now? Takes the wait from what is left of our patience. */
static bool patient(struct output *o)
{
	int64_t now = clock_boottime_ms(), left = o->patience_ms;

	left += (now - o->patience_at) / PATIENCE_SHARE;
	if (left > PATIENCE_MS)
		left = PATIENCE_MS;
	if (left < PATIENCE_STEP_MS)
		return false;
	o->patience_ms = left - PATIENCE_STEP_MS;
	o->patience_at = now;
	return true;
}

static bool awaits_first(struct output *o)
{
	if (!log_writer_unread(o->log))
		return false;
	int64_t now = clock_boottime_ms();
	if (o->reader_due == 0)
		o->reader_due = now + FIRST_READER_MS;
	return now < o->reader_due;
}

/* True: a reader is behind, and reading stopped for a moment. */
static bool wait_for_reader(struct output *o)
{
	if (!awaits_first(o) && !(log_writer_outruns(o->log) && patient(o)))
		return false;
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		loop_remove(o->streams[i].source);
		o->streams[i].source = NULL;
	}
	o->wait = loop_at(o->loop, clock_boottime_ms() + PATIENCE_STEP_MS, on_wait, o);
	return true;
}

/* One read of at most so many bytes; how many, 0 when there is nothing. */
static size_t read_once(struct output_stream *s, size_t most)
{
	struct output *o = s->owner;
	size_t fit = log_writer_fit(o->log);
	ssize_t n = read(s->fd, o->buffer, most < fit ? most : fit);

	if (n <= 0)
		return 0;
	struct text bytes = {o->buffer, (size_t)n};
	if (!s->redact && !redactor_empty(o->redactor))
		s->redact = redact_stream_new(o->redactor);
	write_out(s, s->redact ? redact_stream_write(s->redact, bytes, &o->scratch) : bytes);
	return bytes.len;
}

static void on_readable(void *data, uint32_t events)
{
	struct output_stream *s = data;

	(void)events;
	for (unsigned i = 0; i < READS_A_TURN && !wait_for_reader(s->owner); i++)
		if (read_once(s, READ_SIZE) == 0)
			return;
}

void output_start(struct output *o)
{
	if (!o->buffer)
		o->buffer = mem_alloc(READ_SIZE);
	for (size_t i = 0; i < OUTPUT_STREAMS && !o->wait; i++)
		if (o->streams[i].fd >= 0 && !o->streams[i].source)
			o->streams[i].source = loop_watch(
				o->loop, o->streams[i].fd, EPOLLIN, on_readable, &o->streams[i]);
}

static void read_rest(struct output_stream *s)
{
	size_t n, left = pipe_waiting(s->fd);

	for (; left > 0 && (n = read_once(s, left)) > 0; left -= n)
		;
}

void output_finish(struct output *o)
{
	loop_remove(o->wait);
	o->wait = NULL;
	if (!o->buffer)
		o->buffer = mem_alloc(READ_SIZE);
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		struct output_stream *s = &o->streams[i];
		if (s->fd < 0)
			continue;
		read_rest(s);
		if (s->redact)
			write_out(s, redact_stream_end(s->redact, &o->scratch));
		flush_held(s);
		stop_reading(s);
	}
}

void output_note(struct output *o, const char *words)
{
	AUTO(str) shown = STR_INIT(SIZE_MAX / 2);

	redact_text(o->redactor, text_of(words), &shown);
	log_writer_note(o->log, clock_realtime_ns(), (struct text){str_text(&shown), shown.len});
}
