/*
 * Reading a run's log while it is written (container-driver.md §11.5): from a sequence number on,
 * through rotation and deletion, with gaps where frames are missing. Any number of readers; the
 * writer knows of none. Never blocks.
 *
 *     while ((r = log_reader_next(reader, &frame, err)) == LOG_READ_FRAME)
 *             use(&frame);
 *     LOG_READ_NOTHING: poll log_reader_fd() for POLLIN, then go on; who does not follow stops.
 *
 * A run that was lost may have no `end` frame: who follows also looks at the record.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/runlog/log-format.h"

struct log_reader;

enum log_read {
	LOG_READ_ERROR = -1,
	LOG_READ_FRAME,
	LOG_READ_NOTHING, /* everything that is there was given; more may come */
	LOG_READ_END,     /* the `end` frame was given (or lies before since_seq); stays so */
};

/*
 * Frames with seq > since_seq of run_dir/log. run_dir is only used during the call. 1 = there is
 * no log yet (no directory); -1 `io`.
 */
must_check int log_reader_open(
	int run_dir, uint64_t since_seq, struct log_reader **ret, struct error *err);
void log_reader_free(struct log_reader *r);
DEFINE_AUTO_PTR(log_reader)

/*
 * *ret (its data included) is valid until the next call. A gap that the reader itself makes has
 * the number before the frame that follows it and the time of that segment's creation, so reading
 * on from its number misses nothing.
 */
must_check enum log_read log_reader_next(
	struct log_reader *r, struct log_frame *ret, struct error *err);
/*
 * The file that holds the payload of the frame just given, and where it begins: -1, it is none of a
 * file (a gap that the reader made). The reader's own, valid until the next call; bytes that were
 * given never change.
 */
int log_reader_file(const struct log_reader *r, uint64_t *ret_offset);
/*
 * For a caller that cannot take the next frame just now and is told by log_reader_fd() that the log
 * goes on: opens what the writer may delete before it is read. False: no more is kept.
 */
bool log_reader_keep(struct log_reader *r);
/*
 * To be polled for POLLIN after LOG_READ_NOTHING; the reader's own, and another one from time to
 * time. A timer of 1 ms for a moment after the opening, then an inotify descriptor, or a timer of
 * 200 ms where the user has no inotify instance left.
 */
int log_reader_fd(const struct log_reader *r);
