/*
 * The reader of a run's log over segments of any bytes. Input: a byte that says what is mended,
 * then segments, each behind two bytes with its length. Numbers rise; what is given stands in one
 * of the files, or is a gap; who reads on from a number gets what came behind it.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "executor/runlog/log-reader.h"
#include "executor/runlog/log-segment.h"
#include "log-mend.h"
#include "scratch.h"

enum { SEGMENTS_MAX = 4, FRAMES_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_dir = -1, log_dir = -1;

static void begin(void)
{
	auto_free char *path = scratch_make();

	run_dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(run_dir >= 0 && mkdirat(run_dir, "log", 0700) == 0);
	log_dir = openat(run_dir, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(log_dir >= 0);
}

struct segment {
	char name[LOG_SEGMENT_NAME_SIZE];
	char *bytes;
	size_t len;
};

static void write_segment(struct segment *s, struct text bytes, uint64_t first, bool mended)
{
	s->bytes = mem_strndup(bytes.p, bytes.len);
	s->len = bytes.len;
	if (mended && s->len >= LOG_HEADER_SIZE) {
		memcpy(s->bytes, "cloopLG1", 8);
		log_mend_number(s->bytes + 8, first);
		log_mend(s->bytes, s->len, first);
	}
	log_segment_name(first, s->name);
	auto_fd int fd = openat(log_dir, s->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(fd >= 0 && write(fd, s->bytes, s->len) == (ssize_t)s->len);
}

/* The number behind the last whole frame, as a writer would go on; 0: that is `end`. */
static uint64_t next_number(const struct segment *s, uint64_t first)
{
	size_t at = LOG_HEADER_SIZE, size;
	struct log_frame f;

	while (at < s->len && log_frame_decode((struct text){s->bytes + at, s->len - at}, first, &f,
				      &size) == LOG_FOUND) {
		if (f.stream == LOG_END)
			return 0;
		at += size;
		first++;
	}
	return first;
}

static size_t write_segments(struct text rest, unsigned flags, struct segment *v)
{
	uint64_t first = 1 + (flags >> 4);
	size_t n = 0;

	while (n < SEGMENTS_MAX && rest.len >= 2 && first > 0) {
		size_t len = (unsigned char)rest.p[0] | (size_t)(unsigned char)rest.p[1] << 8;
		rest = text_after(rest, 2);
		len = len < rest.len ? len : rest.len;
		write_segment(&v[n], (struct text){rest.p, len}, first, flags & 1);
		rest = text_after(rest, len);
		uint64_t next = next_number(&v[n++], first);
		/* No two segments have one name, and flags may leave numbers out. */
		first = next == 0 ? 0 : next + (flags & 2 ? 3 : 0) + (next == first);
	}
	return n;
}

static void remove_segments(struct segment *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].bytes);
		unlinkat(log_dir, v[i].name, 0);
	}
}

/* The frame's payload stands where the reader says that it does. */
static void check_file(const struct log_reader *r, const struct log_frame *f)
{
	char bytes[LOG_PAYLOAD_MAX];
	uint64_t offset;
	int fd = log_reader_file(r, &offset);

	assert(fd >= 0 || f->stream == LOG_GAP);
	if (fd < 0)
		return;
	ssize_t n = pread(fd, bytes, f->data.len, (off_t)offset);
	assert(n == (ssize_t)f->data.len && memcmp(bytes, f->data.p, f->data.len) == 0);
}

static void check_given(const struct log_frame *f, const struct segment *v, size_t n)
{
	char header[LOG_FRAME_SIZE];
	bool found = f->stream == LOG_GAP;

	log_frame_encode(f, &f->data, 1, header);
	for (size_t i = 0; i < n && !found; i++)
		found = memmem(v[i].bytes, v[i].len, header, sizeof(header));
	assert(found);
}

/* Numbers of all frames behind `since` but for gaps; how it ended. */
static enum log_read read_all(
	uint64_t since, const struct segment *v, size_t n, uint64_t *seqs, size_t *ret_n)
{
	auto_error struct error err = ERROR_INIT;
	AUTO_PTR(log_reader) r = NULL;
	struct log_frame f;
	enum log_read end;
	uint64_t last = since;

	int opened = log_reader_open(run_dir, since, &r, &err);
	assert(opened == 0);
	*ret_n = 0;
	while ((end = log_reader_next(r, &f, &err)) == LOG_READ_FRAME && *ret_n < FRAMES_MAX) {
		assert(f.seq > last || (f.stream == LOG_GAP && f.seq >= last));
		check_given(&f, v, n);
		check_file(r, &f);
		(void)log_reader_keep(r);
		last = f.seq;
		/* Who reads on from a number hears of no damage before it. */
		if (f.stream != LOG_GAP)
			seqs[(*ret_n)++] = f.seq;
	}
	assert(end == LOG_READ_NOTHING || end == LOG_READ_END);
	assert(log_reader_next(r, &f, &err) == end);
	return end;
}

static void check_from_the_middle(
	const struct segment *v, size_t n, const uint64_t *all, size_t n_all, enum log_read end)
{
	uint64_t some[FRAMES_MAX];
	size_t middle = n_all / 2, n_some;

	enum log_read again = read_all(all[middle], v, n, some, &n_some);
	assert(again == end && n_some == n_all - middle - 1);
	for (size_t i = 0; i < n_some; i++)
		assert(some[i] == all[middle + 1 + i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct segment v[SEGMENTS_MAX] = {0};
	uint64_t seqs[FRAMES_MAX];
	size_t n_seqs;

	if (run_dir < 0)
		begin();
	if (size < 3)
		return 0;
	size_t n = write_segments((struct text){(const char *)data + 1, size - 1}, data[0], v);
	enum log_read end = read_all(0, v, n, seqs, &n_seqs);
	if (n_seqs > 0)
		check_from_the_middle(v, n, seqs, n_seqs, end);
	remove_segments(v, n);
	return 0;
}
