/* Reading the frames of one segment in order, while it may still grow. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "executor/runlog/log-format.h"

struct log_cursor {
	int fd; /* of the segment; owned; -1 = none */
	struct log_header header;
	uint64_t seq;      /* number that the next frame must have */
	uint64_t offset;   /* where it begins in the file = bytes that are good */
	char *buffer;      /* owned */
	size_t begin, end; /* buffer[begin…end) are the file's bytes from offset on */
};
#define LOG_CURSOR_INIT ((struct log_cursor){.fd = -1})
void log_cursor_done(struct log_cursor *c);

/*
 * Puts the cursor at the first frame of dir/<first_seq>.seg, whose header must say the same.
 * LOG_FOUND: the former segment is closed. LOG_TORN (a header to come), LOG_CORRUPT, or LOG_CLEAN
 * = no such file: the cursor stays where it was. -1 `io`.
 */
must_check int log_cursor_open(
	struct log_cursor *c, int dir, uint64_t first_seq, int flags, struct error *err);
/* The same with a descriptor of that file, which is the cursor's, or closed, from here on. */
must_check int log_cursor_take(
	struct log_cursor *c, int segment, uint64_t first_seq, struct error *err);
/*
 * The next frame: an enum log_found, or -1 `io`. LOG_FOUND: *ret is valid until the next call.
 * Anything else: nothing moved, the next call looks at the file again.
 */
must_check int log_cursor_next(struct log_cursor *c, struct log_frame *ret, struct error *err);
