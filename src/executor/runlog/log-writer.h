/*
 * The one writer of a run's log (container-driver.md §11.3-11.4): RUN/log/ with segments, their
 * rotation and retention. Its caller holds RUN/lock; nothing here checks that.
 *
 * Appending never fails outward: what cannot be written (a full disk) is dropped, counted, and
 * told by a gap frame as soon as one fits; stats.write_failed then asks for the record's warning
 * `log_write_failed`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "executor/runlog/log-format.h"

struct log_writer;

enum { LOG_WRITER_SYNC_MS = 5000 };

struct log_stats {
	uint64_t bytes;         /* payload bytes written, deleted ones included */
	uint64_t dropped_bytes; /* payload bytes deleted by retention, and output never written */
	uint64_t last_seq;      /* 0 = no frame yet */
	bool write_failed;      /* something could not be written or synced since the opening */
	bool ended;             /* the last frame is the end */
};

/*
 * Opens or makes run_dir/log (0700). An existing log is continued: its last segment is cut at the
 * end of its last good frame (a segment without a good header is removed), and the next frame has
 * the next number. cap_bytes: log_max_mb in bytes. `io` error.
 */
must_check int log_writer_open(int run_dir, uint64_t cap_bytes, int64_t now_ns,
	struct log_writer **ret, struct error *err);
/* Closes without a sync; NULL is fine. */
void log_writer_free(struct log_writer *w);
DEFINE_AUTO_PTR(log_writer)

/*
 * One frame whose payload is the `n` parts (n <= 4, together at most 65536 bytes; nothing at all
 * makes no frame). True: it is in the log. False: dropped and counted.
 */
bool log_writer_append(struct log_writer *w, enum log_stream stream, int64_t time_ns,
	const struct text *parts, size_t n);
/*
 * Payload size, 1-65536, with which the next frame ends at a multiple of 65536 bytes of its file.
 * Frames of that size cost the page cache a quarter less than those of 65536.
 */
size_t log_writer_fit(const struct log_writer *w);
/*
 * The next frame would delete a segment that a reader, which has everything before it, has not
 * opened yet. Who waits a moment then spares a reader that gets no processor a gap. Costs two
 * system calls a segment.
 */
bool log_writer_outruns(struct log_writer *w);
/* The next frame would delete the log's first segment, and there is no reader yet. */
bool log_writer_unread(const struct log_writer *w);
/*
 * cloop's own words, without the leading `[cloop] `: cut to a note's maximum at a character
 * border, what is not UTF-8 shown as \xNN. The caller has redacted them.
 */
bool log_writer_note(struct log_writer *w, int64_t time_ns, struct text words);
/* Output was lost outside (LOG_LOST_UNKNOWN: nobody knows how much). */
bool log_writer_gap(struct log_writer *w, int64_t time_ns, uint64_t lost);
/*
 * The last frame, after the final status.json, and a sync. On a full disk older segments make
 * room; -1 (`io`) when it still cannot be written.
 */
must_check int log_writer_end(struct log_writer *w, int64_t time_ns, struct error *err);

/* Has written frames that no sync covered: log_writer_sync() is due within LOG_WRITER_SYNC_MS. */
bool log_writer_unsynced(const struct log_writer *w);
/* fdatasync of every segment written since the last one. A failure counts as write_failed. */
void log_writer_sync(struct log_writer *w);

struct log_stats log_writer_stats(const struct log_writer *w);
