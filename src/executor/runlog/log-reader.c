/*
 * A reader stands in one segment (the cursor) and knows the number of the last frame it gave
 * (`since`). Where the cursor finds no frame it looks for a younger segment; only after one is
 * seen to exist is the place looked at a last time and then given up, because the writer is done
 * with a segment before it makes the next. So neither a frame that is just being written nor the
 * cut after a crash is mistaken for a loss.
 *
 * Every LOOK_BYTES the younger segments are opened, so that those which the writer deletes before
 * the reader gets there are not lost (log-ahead.h).
 *
 * Closing an inotify descriptor takes the kernel 6 to 16 ms (seen on 6.18), a tenth of a short run.
 * So a reader first looks every millisecond, and watches once that has lasted EAGER_MS.
 *
 * Waiting: events are drained before the last look, so what is written after the look makes the
 * descriptor readable again.
 */
#include "executor/runlog/log-reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#include "base/mem.h"
#include "executor/runlog/log-ahead.h"
#include "executor/runlog/log-cursor.h"
#include "executor/runlog/log-segment.h"
#include "sys/clock.h"

enum { EAGER_MS = 60, EAGER_NS = 1000000, POLL_NS = 200000000, LOOK_BYTES = 512 << 10 };

struct log_reader {
	int dir;
	int notify;          /* inotify, or a timer */
	int64_t eager_until; /* boottime in ms: then inotify takes over; 0 = it has */
	uint64_t since;
	bool ended;
	struct log_cursor at; /* at.fd = -1: no segment yet */
	struct log_ahead ahead;
	size_t unlooked;     /* bytes read since the last look ahead */
	int marked;          /* own descriptor of the marked segment; -1 = none is */
	uint64_t marked_seq; /* its first number */
	uint64_t given_at;   /* offset of the payload just given; 0 = of no file */
	bool gap_due;        /* `gap` is to be given before anything else */
	struct log_frame gap;
	char gap_bytes[LOG_GAP_SIZE];
};

static int tick(long ns)
{
	auto_fd int timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	struct itimerspec every = {{0, ns}, {0, ns}};

	if (timer < 0 || timerfd_settime(timer, 0, &every, NULL) < 0)
		return -1;
	return TAKE_FD(timer);
}

static int watch(int dir)
{
	char path[64];
	auto_fd int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	if (fd >= 0 && inotify_add_watch(fd, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) >= 0)
		return TAKE_FD(fd);
	return tick(POLL_NS);
}

int log_reader_open(int run_dir, uint64_t since_seq, struct log_reader **ret, struct error *err)
{
	AUTO_PTR(log_reader) r = mem_alloc(sizeof(*r));

	*r = (struct log_reader){.dir = -1,
		.notify = -1,
		.since = since_seq,
		.at = LOG_CURSOR_INIT,
		.marked = -1,
		.unlooked = LOOK_BYTES};
	r->dir = openat(run_dir, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (r->dir < 0 && errno == ENOENT)
		return 1;
	if (r->dir < 0)
		return error_set_errno(err, ERROR_IO, errno, "opening the log's directory");
	r->notify = tick(EAGER_NS);
	r->eager_until = clock_boottime_ms() + EAGER_MS;
	if (r->notify < 0)
		return error_set_errno(err, ERROR_IO, errno, "watching the log's directory");
	*ret = TAKE_PTR(r);
	return 0;
}

void log_reader_free(struct log_reader *r)
{
	if (!r)
		return;
	log_cursor_done(&r->at);
	log_ahead_done(&r->ahead);
	if (r->marked >= 0)
		close(r->marked);
	if (r->notify >= 0)
		close(r->notify);
	if (r->dir >= 0)
		close(r->dir);
	free(r);
}

int log_reader_file(const struct log_reader *r, uint64_t *ret_offset)
{
	*ret_offset = r->given_at;
	return r->given_at > 0 ? r->at.fd : -1;
}

int log_reader_fd(const struct log_reader *r)
{
	return r->notify;
}

/* Without a descriptor for a watch the eager one stays. */
static void drain(struct log_reader *r)
{
	char bytes[4096] __attribute__((aligned(8)));
	int watching = -1;

	if (r->eager_until > 0 && clock_boottime_ms() >= r->eager_until)
		watching = watch(r->dir);
	if (watching >= 0) {
		close(r->notify);
		r->notify = watching;
		r->eager_until = 0;
	}
	while (read(r->notify, bytes, sizeof(bytes)) > 0)
		continue;
}

/* The cursor has come into a segment: what is missing before its first frame? */
static void note_gap(struct log_reader *r, bool damaged)
{
	const struct log_header *h = &r->at.header;
	bool missing = h->first_seq - 1 > r->since;

	if (!missing && !(damaged && h->first_seq - 1 == r->since))
		return;
	log_gap_encode(missing && r->since == 0 && !damaged ? h->bytes_before : LOG_LOST_UNKNOWN,
		r->gap_bytes);
	r->since = h->first_seq - 1;
	r->gap = (struct log_frame){
		.seq = r->since,
		.time_ns = h->created_ns,
		.stream = LOG_GAP,
		.data = {r->gap_bytes, LOG_GAP_SIZE},
	};
	r->gap_due = true;
}

/* Tells the writer how far we are: it waits a moment with what comes next (log-writer.h). */
static void mark_youngest(struct log_reader *r)
{
	uint64_t seq = r->at.header.first_seq;
	int fd = log_ahead_youngest(&r->ahead, &seq);

	if (fd < 0)
		fd = r->at.fd;
	if (fd < 0 || (r->marked >= 0 && seq == r->marked_seq))
		return;
	auto_fd int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return;
	log_segment_mark(own, true);
	if (r->marked >= 0) {
		log_segment_mark(r->marked, false);
		close(r->marked);
	}
	r->marked = TAKE_FD(own);
	r->marked_seq = seq;
}

static int open_segment(struct log_reader *r, uint64_t first_seq, struct error *err)
{
	int fd = log_ahead_take(&r->ahead, first_seq);
	int found = fd < 0 ? log_cursor_open(&r->at, r->dir, first_seq, O_RDONLY, err)
			   : log_cursor_take(&r->at, fd, first_seq, err);

	if (found == LOG_FOUND)
		mark_youngest(r);
	return found;
}

static void look(struct log_reader *r)
{
	log_ahead_look(&r->ahead, r->dir, r->at.header.first_seq);
	mark_youngest(r);
}

static void look_ahead(struct log_reader *r, size_t bytes)
{
	r->unlooked += bytes;
	if (r->unlooked < LOOK_BYTES)
		return;
	r->unlooked = 0;
	look(r);
}

/*
 * Goes into the first of the segments list[i…n) that can be read. 1 = none (yet). damaged: the
 * way there leads over frames that cannot be read.
 */
static int enter(struct log_reader *r, const uint64_t *list, size_t i, size_t n, bool damaged,
	struct error *err)
{
	for (; i < n; i++) {
		int found = open_segment(r, list[i], err);
		if (found < 0)
			return -1;
		if (found == LOG_FOUND) {
			note_gap(r, damaged);
			return 0;
		}
		damaged |= found != LOG_CLEAN;
	}
	return 1;
}

/* The first segment: the youngest that begins at or before the wanted number, else the oldest. */
static int begin(struct log_reader *r, struct error *err)
{
	auto_free uint64_t *list = NULL;
	size_t n, i = 0;

	if (log_ahead_list(&r->ahead, r->dir, &list, &n, err) < 0)
		return -1;
	while (i + 1 < n && list[i + 1] - 1 <= r->since)
		i++;
	return enter(r, list, i, n, false, err);
}

/*
 * The cursor found no frame. 0: go on (a younger segment was entered, or *ret_found is LOG_FOUND:
 * a frame after all), 1: nothing to go on to.
 */
static int move_on(struct log_reader *r, struct log_frame *frame, int *ret_found, struct error *err)
{
	auto_free uint64_t *list = NULL;
	size_t n, i = 0;

	/* The next segment has the cursor's number; in one without frames that is its own. */
	if (*ret_found == LOG_CLEAN && r->at.seq > r->at.header.first_seq) {
		int next = open_segment(r, r->at.seq, err);
		if (next == LOG_FOUND || next < 0)
			return next < 0 ? -1 : 0;
	}
	if (log_ahead_list(&r->ahead, r->dir, &list, &n, err) < 0)
		return -1;
	while (i < n && list[i] <= r->at.header.first_seq)
		i++;
	if (i == n)
		return 1;
	*ret_found = log_cursor_next(&r->at, frame, err);
	if (*ret_found < 0)
		return -1;
	if (*ret_found == LOG_FOUND)
		return 0;
	return enter(r, list, i, n, *ret_found != LOG_CLEAN, err);
}

/* A frame (0), or 1 = everything was read. */
static int step(struct log_reader *r, struct log_frame *frame, struct error *err)
{
	for (;;) {
		if (r->gap_due) {
			r->gap_due = false;
			r->given_at = 0;
			*frame = r->gap;
			return 0;
		}
		int moved = r->at.fd < 0 ? begin(r, err) : 0;
		if (moved != 0)
			return moved;
		if (r->gap_due)
			continue;
		int found = log_cursor_next(&r->at, frame, err);
		if (found >= 0 && found != LOG_FOUND)
			moved = move_on(r, frame, &found, err);
		if (found < 0 || moved != 0)
			return found < 0 ? -1 : moved;
		if (found != LOG_FOUND)
			continue;
		r->ended = frame->stream == LOG_END;
		r->given_at = r->at.offset - frame->data.len;
		if (frame->seq > r->since)
			return 0;
		if (r->ended)
			return 1;
	}
}

bool log_reader_keep(struct log_reader *r)
{
	drain(r);
	look(r);
	return !log_ahead_full(&r->ahead);
}

enum log_read log_reader_next(struct log_reader *r, struct log_frame *ret, struct error *err)
{
	bool drained = false;

	while (!r->ended) {
		int stepped = step(r, ret, err);
		if (stepped < 0)
			return LOG_READ_ERROR;
		if (stepped == 0) {
			r->since = ret->seq;
			look_ahead(r, ret->data.len + LOG_FRAME_SIZE);
			return LOG_READ_FRAME;
		}
		if (drained && !r->ended)
			return LOG_READ_NOTHING;
		drain(r);
		drained = true;
	}
	return LOG_READ_END;
}
