/*
 * What an image build prints (image-trust.md §11.4): line by line to whoever started it, to the
 * build's log, and its end kept for an error. Nothing leaves here raw: control characters and bytes
 * that are no UTF-8 become \xNN, a carriage return ends a line as LF does (progress bars).
 */
#pragma once

#include "base/str.h"
#include "base/text.h"
#include "base/error.h"

enum {
	BUILD_OUTPUT_LOG_MAX = 1 << 20, /* of its log that are kept */
	BUILD_OUTPUT_LINES = 12,        /* of the end, in an error; … */
	BUILD_OUTPUT_BYTES = 4096,      /* … at most so many bytes */
};

struct build_output {
	void (*show)(void *data, struct text piece); /* NULL = nobody; at most 4096 bytes */
	void *data;
	int log; /* -1 = none, or it cannot be written any more */
	uint64_t logged;
	struct str line; /* what came of a line so far, raw */
	struct str out;  /* what is to be shown next */
	struct str tail; /* the end of what was shown */
	bool cr;         /* the last byte was a carriage return */
	bool began;      /* the builder has begun its first step */
};
#define BUILD_OUTPUT_INIT \
	((struct build_output){.log = -1, \
		.line = STR_INIT(1024), \
		.out = STR_INIT(4096), \
		.tail = STR_INIT(16384)})
void build_output_done(struct build_output *o);

/* Replaces dir/name (0600). */
must_check int build_output_open_log(
	struct build_output *o, int dir, const char *name, struct error *err);
void build_output_take(struct build_output *o, struct text bytes);
/* What came of the last line, and a log of at most BUILD_OUTPUT_LOG_MAX bytes. */
void build_output_end(struct build_output *o);
/* The last lines without the last LF: a view. */
struct text build_output_last_lines(const struct build_output *o);
