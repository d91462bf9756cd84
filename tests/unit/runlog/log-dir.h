/* A run directory with a log, for the tests of its writer and reader. */
#pragma once

#include "unit/sys/unit-dir.h"

#include "executor/runlog/log-reader.h"
#include "executor/runlog/log-segment.h"
#include "executor/runlog/log-writer.h"

enum { MB = 1 << 20, PAYLOAD = 60000 };

static inline struct log_writer *writer(uint64_t cap)
{
	auto_error struct error err = ERROR_INIT;
	struct log_writer *w = NULL;

	assert_done(log_writer_open(dir, cap, 1, &w, &err), &err);
	return w;
}

static inline struct log_reader *reader(uint64_t since)
{
	auto_error struct error err = ERROR_INIT;
	struct log_reader *r = NULL;

	assert_done(log_reader_open(dir, since, &r, &err), &err);
	return r;
}

/* A frame of stdout; its time is 100 + its number. */
static inline void put_text(struct log_writer *w, const char *s)
{
	struct text t = text_of(s);

	assert_true(log_writer_append(
		w, LOG_STDOUT, 101 + (int64_t)log_writer_stats(w).last_seq, &t, 1));
}

static inline bool put_block(struct log_writer *w)
{
	static char bytes[PAYLOAD];
	struct text t = {bytes, sizeof(bytes)};

	return log_writer_append(w, LOG_STDOUT, 5, &t, 1);
}

/* The reader's next answer is a frame with this number, stream and text. */
static inline void expect_frame(
	struct log_reader *r, uint64_t seq, enum log_stream stream, const char *s)
{
	auto_error struct error err = ERROR_INIT;
	struct log_frame f;

	assert_int_equal(log_reader_next(r, &f, &err), LOG_READ_FRAME);
	assert_int_equal(f.seq, seq);
	assert_int_equal(f.stream, stream);
	if (s)
		assert_true(text_is(f.data, s));
}

static inline void expect_gap(struct log_reader *r, uint64_t seq, uint64_t lost)
{
	auto_error struct error err = ERROR_INIT;
	struct log_frame f;

	assert_int_equal(log_reader_next(r, &f, &err), LOG_READ_FRAME);
	assert_int_equal(f.seq, seq);
	assert_int_equal(f.stream, LOG_GAP);
	assert_true(log_gap_lost(&f) == lost);
}

static inline void expect(struct log_reader *r, enum log_read what)
{
	auto_error struct error err = ERROR_INIT;
	struct log_frame f;

	assert_int_equal(log_reader_next(r, &f, &err), what);
}

/* Opens a segment's file. */
static inline int segment_fd(uint64_t first_seq, int flags)
{
	char name[64] = "log/";

	log_segment_name(first_seq, name + 4);
	int fd = openat(dir, name, flags | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	return fd;
}

static inline size_t segment_size(uint64_t first_seq)
{
	auto_fd int fd = segment_fd(first_seq, O_RDONLY);

	return (size_t)lseek(fd, 0, SEEK_END);
}

/* The segments there are; list holds at most 64. */
static inline size_t segments(uint64_t list[64])
{
	auto_error struct error err = ERROR_INIT;
	auto_fd int log = openat(dir, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_free uint64_t *found = NULL;
	size_t n = 0;

	assert_done(log_segment_list(log, &found, &n, &err), &err);
	assert_true(n <= 64);
	if (n > 0)
		memcpy(list, found, n * sizeof(*list));
	return n;
}
