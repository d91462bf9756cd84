/*
 * Every frame is one pwritev at the end of what is good (current->file_bytes), so a write that
 * fails half-way leaves bytes that are cut off, or overwritten by the next frame; a reader sees a
 * torn tail meanwhile and waits. The number and all counters move only after a whole frame.
 *
 * A segment's end is synced at once unless the last such sync is younger than five seconds: then
 * the next sync covers it, if it was not deleted by then. A flood of output is thus not slowed down
 * to the speed of the disk for segments that live for milliseconds.
 */
#include "executor/runlog/log-writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "executor/runlog/log-cursor.h"
#include "executor/runlog/log-segment.h"
#include "sys/fault.h"

enum { PARTS_MAX = 4, MS = 1000000 };

struct log_writer {
	int dir;
	int fd;           /* of the newest segment; -1 = there is none yet */
	int last_deleted; /* of that segment, for its mark; -1 = none yet */
	uint64_t cleared; /* first number of the segment that nobody is awaited for; 0 = none */
	uint64_t cap_bytes;
	struct log_segment *segments; /* oldest first */
	size_t n_segments, n_allocated;
	size_t n_unsynced; /* of the newest ones: have bytes that no sync covered */
	bool dir_unsynced; /* a segment was made since */
	int64_t synced_ns; /* when a segment's end was last synced */
	uint64_t next_seq;
	uint64_t bytes;   /* payload, all segments ever */
	uint64_t deleted; /* payload, by retention */
	uint64_t lost;    /* output that was never written */
	uint64_t untold;  /* part of it that no gap frame tells yet; LOG_LOST_UNKNOWN = unknown */
	bool tail_dirty;  /* bytes behind the good ones could not be cut off */
	bool write_failed;
	bool ended;
};

static struct log_segment *newest(struct log_writer *w)
{
	return &w->segments[w->n_segments - 1];
}

static void add_segment(struct log_writer *w, const struct log_segment *s)
{
	if (w->n_segments == w->n_allocated) {
		w->n_allocated += 24;
		w->segments = mem_grow(w->segments, w->n_allocated, sizeof(*w->segments));
	}
	w->segments[w->n_segments++] = *s;
}

/* --- continuing an existing log --- */

/* The header of an older segment and its size; a damaged one counts with its size only. */
static int load_older(struct log_writer *w, const uint64_t *list, size_t n, struct error *err)
{
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		AUTO(log_cursor) c = LOG_CURSOR_INIT;
		struct log_segment s = {.first_seq = list[i]};
		struct stat st;
		int found = log_cursor_open(&c, w->dir, list[i], O_RDONLY, err);
		if (found < 0)
			return -1;
		if (found == LOG_FOUND && fstat(c.fd, &st) == 0) {
			s.file_bytes = (uint64_t)st.st_size;
			if (i > 0 && c.header.bytes_before > before)
				w->segments[i - 1].payload_bytes = c.header.bytes_before - before;
			before = c.header.bytes_before;
			if (i == 0)
				w->deleted = before;
		}
		add_segment(w, &s);
	}
	if (n > 0)
		w->segments[n - 1].payload_bytes = w->bytes > before ? w->bytes - before : 0;
	return 0;
}

/* Reads the newest segment to its last good frame, cuts it there and keeps it open. */
static int load_newest(struct log_writer *w, struct log_cursor *c, struct error *err)
{
	struct log_segment s = {.first_seq = c->header.first_seq};
	struct log_frame frame;
	int found;

	while ((found = log_cursor_next(c, &frame, err)) == LOG_FOUND) {
		s.payload_bytes += frame.data.len;
		w->ended = frame.stream == LOG_END;
	}
	if (found < 0)
		return -1;
	if (found != LOG_CLEAN && ftruncate(c->fd, (off_t)c->offset) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cutting the log's torn end");
	s.file_bytes = c->offset;
	if (w->n_segments == 0)
		w->deleted = c->header.bytes_before;
	w->next_seq = c->seq;
	w->bytes = c->header.bytes_before + s.payload_bytes;
	w->fd = TAKE_FD(c->fd);
	w->n_unsynced = 1;
	add_segment(w, &s);
	return 0;
}

static int load(struct log_writer *w, struct error *err)
{
	AUTO(log_cursor) c = LOG_CURSOR_INIT;
	auto_free uint64_t *list = NULL;
	char name[LOG_SEGMENT_NAME_SIZE];
	size_t n = 0;
	int found = LOG_CLEAN;

	if (log_segment_list(w->dir, &list, &n, err) < 0)
		return -1;
	while (n > 0 &&
		(found = log_cursor_open(&c, w->dir, list[n - 1], O_RDWR, err)) != LOG_FOUND) {
		if (found < 0)
			return -1;
		w->next_seq = list[n - 1];
		log_segment_name(list[n - 1], name);
		if (unlinkat(w->dir, name, 0) < 0 && errno != ENOENT)
			return error_set_errno(
				err, ERROR_IO, errno, "removing the damaged segment %s", name);
		n--;
	}
	if (n == 0)
		return 0;
	w->bytes = c.header.bytes_before;
	if (load_older(w, list, n - 1, err) < 0)
		return -1;
	return load_newest(w, &c, err);
}

int log_writer_open(
	int run_dir, uint64_t cap_bytes, int64_t now_ns, struct log_writer **ret, struct error *err)
{
	AUTO_PTR(log_writer) w = mem_alloc(sizeof(*w));

	*w = (struct log_writer){.dir = -1,
		.fd = -1,
		.last_deleted = -1,
		.cap_bytes = cap_bytes,
		.next_seq = 1,
		.synced_ns = now_ns};
	if (mkdirat(run_dir, "log", 0700) < 0 && errno != EEXIST)
		return error_set_errno(err, ERROR_IO, errno, "making the log's directory");
	w->dir = openat(run_dir, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (w->dir < 0)
		return error_set_errno(err, ERROR_IO, errno, "opening the log's directory");
	if (load(w, err) < 0)
		return -1;
	*ret = TAKE_PTR(w);
	return 0;
}

void log_writer_free(struct log_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	if (w->last_deleted >= 0)
		close(w->last_deleted);
	if (w->dir >= 0)
		close(w->dir);
	free(w->segments);
	free(w);
}

/* --- segments --- */

static int open_to_read(const struct log_writer *w, const struct log_segment *s)
{
	char name[LOG_SEGMENT_NAME_SIZE];

	log_segment_name(s->first_seq, name);
	return openat(w->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
}

static void delete_oldest(struct log_writer *w, size_t n)
{
	char name[LOG_SEGMENT_NAME_SIZE];

	if (w->last_deleted >= 0)
		close(w->last_deleted);
	w->last_deleted = open_to_read(w, &w->segments[n - 1]);
	for (size_t i = 0; i < n; i++) {
		log_segment_name(w->segments[i].first_seq, name);
		unlinkat(w->dir, name, 0);
		w->deleted += w->segments[i].payload_bytes;
	}
	w->n_segments -= n;
	memmove(w->segments, w->segments + n, w->n_segments * sizeof(*w->segments));
	if (w->n_unsynced > w->n_segments)
		w->n_unsynced = w->n_segments;
}

static void keep_cap(struct log_writer *w)
{
	uint64_t dropped;
	size_t n = log_retention(w->segments, w->n_segments, w->cap_bytes, &dropped);

	if (n > 0)
		delete_oldest(w, n);
}

static bool has_reader(const struct log_writer *w)
{
	for (size_t i = w->n_segments; i-- > 0;) {
		auto_fd int fd = open_to_read(w, &w->segments[i]);
		if (fd >= 0 && log_segment_marked(fd))
			return true;
	}
	return false;
}

/*
 * One read makes up to two frames and a segment, since bytes of a character were held. Frames fill
 * their files to multiples of 65536 (log_writer_fit()), as the cap is one: without room for the
 * second frame it would often be the one that goes over it.
 */
static bool next_deletes(const struct log_writer *w)
{
	uint64_t sum = LOG_HEADER_SIZE + 2 * (LOG_FRAME_SIZE + LOG_PAYLOAD_MAX);

	for (size_t i = 0; i < w->n_segments; i++)
		sum += w->segments[i].file_bytes;
	return w->n_segments > 1 && sum > w->cap_bytes;
}

bool log_writer_outruns(struct log_writer *w)
{
	if (w->last_deleted < 0 || !next_deletes(w) || w->cleared == w->segments[0].first_seq)
		return false;
	if (log_segment_marked(w->last_deleted))
		return true;
	w->cleared = w->segments[0].first_seq;
	return false;
}

bool log_writer_unread(const struct log_writer *w)
{
	return w->last_deleted < 0 && next_deletes(w) && w->segments[0].first_seq == 1 &&
	       !has_reader(w);
}

/* Writes all parts at the offset: 0, or -1 with errno and possibly a part written. */
static int write_at(int fd, struct iovec *parts, int n, uint64_t offset)
{
	while (n > 0) {
		ssize_t done = pwritev(fd, parts, n, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done == 0)
			errno = EIO;
		if (done <= 0)
			return -1;
		offset += (uint64_t)done;
		for (; n > 0 && (size_t)done >= parts->iov_len; n--)
			done -= (ssize_t)(parts++)->iov_len;
		if (n > 0) {
			parts->iov_base = (char *)parts->iov_base + done;
			parts->iov_len -= (size_t)done;
		}
	}
	return 0;
}

/* It appears with its header: a reader that is waiting for it never finds it empty. */
static bool start_segment(struct log_writer *w, int64_t time_ns)
{
	char name[LOG_SEGMENT_NAME_SIZE], bytes[LOG_HEADER_SIZE];
	struct log_header header = {w->next_seq, w->bytes, time_ns};
	struct iovec part = {bytes, sizeof(bytes)};

	log_segment_name(w->next_seq, name);
	auto_fd int fd = openat(w->dir, LOG_SEGMENT_NEW,
		O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	log_header_encode(&header, bytes);
	if (write_at(fd, &part, 1, 0) < 0 || renameat(w->dir, LOG_SEGMENT_NEW, w->dir, name) < 0) {
		unlinkat(w->dir, LOG_SEGMENT_NEW, 0);
		return false;
	}
	int64_t since_sync = time_ns - w->synced_ns;
	if (since_sync >= (int64_t)LOG_WRITER_SYNC_MS * MS || since_sync < 0) {
		log_writer_sync(w);
		w->synced_ns = time_ns;
	}
	if (w->fd >= 0)
		close(w->fd);
	w->fd = TAKE_FD(fd);
	w->tail_dirty = false;
	w->n_unsynced++;
	w->dir_unsynced = true;
	add_segment(w, &(struct log_segment){w->next_seq, 0, sizeof(bytes)});
	return true;
}

/* --- frames --- */

/* Cuts off what lies behind the good bytes; errno stays. */
static void cut_tail(struct log_writer *w)
{
	int error = errno;

	w->tail_dirty = ftruncate(w->fd, (off_t)newest(w)->file_bytes) < 0;
	errno = error;
}

static bool segment_full(const struct log_writer *w)
{
	return w->fd < 0 ||
	       w->segments[w->n_segments - 1].file_bytes >= log_segment_limit(w->cap_bytes);
}

size_t log_writer_fit(const struct log_writer *w)
{
	uint64_t at = segment_full(w) ? LOG_HEADER_SIZE : w->segments[w->n_segments - 1].file_bytes;

	return LOG_PAYLOAD_MAX - (size_t)((at + LOG_FRAME_SIZE) % LOG_PAYLOAD_MAX);
}

static bool put(struct log_writer *w, enum log_stream stream, int64_t time_ns,
	const struct text *parts, size_t n)
{
	struct log_frame frame = {.seq = w->next_seq, .time_ns = time_ns, .stream = stream};
	char header[LOG_FRAME_SIZE];
	struct iovec pieces[1 + PARTS_MAX] = {{header, sizeof(header)}};
	int n_pieces = 1;
	size_t length = 0;

	if (segment_full(w) && !start_segment(w, time_ns))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (parts[i].len > 0)
			pieces[n_pieces++] =
				(struct iovec){(void *)(uintptr_t)parts[i].p, parts[i].len};
		length += parts[i].len;
	}
	log_frame_encode(&frame, parts, n, header);
	if (w->tail_dirty)
		cut_tail(w);
	if (fault_hit("log-write") ||
		write_at(w->fd, pieces, n_pieces, newest(w)->file_bytes) < 0) {
		cut_tail(w);
		return false;
	}
	newest(w)->file_bytes += sizeof(header) + length;
	newest(w)->payload_bytes += length;
	w->bytes += length;
	w->next_seq++;
	if (w->n_unsynced == 0)
		w->n_unsynced = 1;
	keep_cap(w);
	return true;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? LOG_LOST_UNKNOWN : sum;
}

/* Tells of what was lost before; true: nothing is left to tell. */
static bool tell_gap(struct log_writer *w, int64_t time_ns)
{
	char bytes[LOG_GAP_SIZE];

	if (w->untold == 0)
		return true;
	log_gap_encode(w->untold, bytes);
	if (!put(w, LOG_GAP, time_ns, &(struct text){bytes, sizeof(bytes)}, 1))
		return false;
	w->untold = 0;
	return true;
}

static bool is_output(enum log_stream stream)
{
	return stream != LOG_NOTE && stream != LOG_GAP && stream != LOG_END;
}

bool log_writer_append(struct log_writer *w, enum log_stream stream, int64_t time_ns,
	const struct text *parts, size_t n)
{
	size_t length = 0;

	assert(n <= PARTS_MAX);
	for (size_t i = 0; i < n; i++)
		length += parts[i].len;
	if (length == 0 && stream != LOG_END)
		return true;
	if (tell_gap(w, time_ns) && put(w, stream, time_ns, parts, n))
		return true;
	w->write_failed = true;
	if (is_output(stream)) {
		w->lost += length;
		w->untold = add_saturated(w->untold, length);
	}
	return false;
}

bool log_writer_note(struct log_writer *w, int64_t time_ns, struct text words)
{
	static const struct text mark = TEXT("[cloop] ");
	AUTO(str) shown = STR_INIT(4 * LOG_NOTE_MAX);

	text_escape(&shown, words, LOG_NOTE_MAX);
	struct text body = {str_text(&shown), shown.len};
	body.len = utf8_cut(body, LOG_NOTE_MAX - mark.len);
	return log_writer_append(w, LOG_NOTE, time_ns, (struct text[]){mark, body}, 2);
}

bool log_writer_gap(struct log_writer *w, int64_t time_ns, uint64_t lost)
{
	w->untold = add_saturated(w->untold, lost);
	if (lost != LOG_LOST_UNKNOWN)
		w->lost += lost;
	if (tell_gap(w, time_ns))
		return true;
	w->write_failed = true;
	return false;
}

int log_writer_end(struct log_writer *w, int64_t time_ns, struct error *err)
{
	while (!log_writer_append(w, LOG_END, time_ns, NULL, 0)) {
		if (w->n_segments < 2)
			return error_set_errno(err, ERROR_IO, errno, "writing the end of the log");
		delete_oldest(w, 1);
	}
	w->ended = true;
	log_writer_sync(w);
	return 0;
}

/* --- durability --- */

bool log_writer_unsynced(const struct log_writer *w)
{
	return w->n_unsynced > 0;
}

static bool sync_closed(struct log_writer *w, const struct log_segment *s)
{
	auto_fd int fd = open_to_read(w, s);

	return fd >= 0 && fdatasync(fd) == 0;
}

void log_writer_sync(struct log_writer *w)
{
	bool ok = true;

	if (w->n_unsynced == 0)
		return;
	for (size_t i = w->n_segments - w->n_unsynced; i + 1 < w->n_segments; i++)
		ok &= sync_closed(w, &w->segments[i]);
	ok &= fdatasync(w->fd) == 0;
	if (w->dir_unsynced)
		ok &= fsync(w->dir) == 0;
	w->n_unsynced = 0;
	w->dir_unsynced = false;
	w->write_failed |= !ok;
}

struct log_stats log_writer_stats(const struct log_writer *w)
{
	return (struct log_stats){
		.bytes = w->bytes,
		.dropped_bytes = w->deleted + w->lost,
		.last_seq = w->next_seq - 1,
		.write_failed = w->write_failed,
		.ended = w->ended,
	};
}
