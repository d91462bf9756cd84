/*
 * libcloop: a run's output (container-driver.md §11). Any number of readers at once, each from
 * where it likes; one that never reads slows nobody. Seed: Executor.Stream, executor.LogLine.
 */
#pragma once

#include <cloop/cancel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a piece of output comes from. */
enum cloop_log_stream {
	CLOOP_LOG_STDOUT = 1,
	CLOOP_LOG_STDERR = 2,
	CLOOP_LOG_NOTE = 3, /* cloop's own words about the run */
	CLOOP_LOG_GAP = 4   /* output that is lost: `lost_bytes` */
};

/* CLOOP_LOG_GAP whose size nobody knows. */
#define CLOOP_LOG_LOST_UNKNOWN UINT64_MAX

/* One frame of the log: bytes as they came, not cut into lines; secrets are masked. */
struct cloop_log_line {
	uint64_t seq;    /* ascending; reading on from it misses and repeats nothing */
	int64_t time_ns; /* since 1970; may step back */
	enum cloop_log_stream stream;
	const char *data; /* any bytes, no NUL behind them; at most 65,536 */
	size_t size;
	uint64_t lost_bytes; /* CLOOP_LOG_GAP only; else 0 */
};

/* One reader; one thread at a time. */
struct cloop_stream;

/*
 * The next frame; waits for it as long as the run goes on. 0: *line, the stream's own, valid until
 * the next call. 1: the run has ended and everything was given. Errors: io, cancelled,
 * lost (its supervisors die one after the other).
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_stream_next(struct cloop_stream *stream,
	const struct cloop_cancel *cancel, const struct cloop_log_line **line,
	struct cloop_error *err);
/* The run goes on. */
CLOOP_API void cloop_stream_free(struct cloop_stream *stream);

#ifdef __cplusplus
}
#endif
