/*
 * The format of a run's log (container-driver.md §11.3): encoding, the decoder's judgements in
 * their exact order, retention (§11.4). Pure; nothing here does I/O or allocates.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum {
	LOG_HEADER_SIZE = 32,    /* of a segment */
	LOG_FRAME_SIZE = 28,     /* of a frame, without its payload */
	LOG_PAYLOAD_MAX = 65536, /* bytes */
	LOG_NOTE_MAX = 4096,     /* bytes of a note's payload */
	LOG_GAP_SIZE = 8,        /* bytes of a gap's payload */
};
/* A gap of unknown size. */
#define LOG_LOST_UNKNOWN UINT64_MAX

enum log_stream {
	LOG_STDOUT = 1,
	LOG_STDERR,
	LOG_COMBINED, /* a terminal */
	LOG_NOTE,     /* cloop's own words */
	LOG_GAP,      /* u64 lost bytes */
	LOG_END,
	LOG_SETUP, /* output of an image build */
	LOG_STREAM_COUNT
};
const char *log_stream_text(enum log_stream s);
int log_stream_from_text(struct text t); /* -1: not a name */

struct log_header {
	uint64_t first_seq;    /* >= 1 */
	uint64_t bytes_before; /* payload bytes of all earlier segments */
	int64_t created_ns;    /* since 1970 */
};

struct log_frame {
	uint64_t seq;
	int64_t time_ns; /* since 1970; may step back */
	enum log_stream stream;
	struct text data; /* view into what was decoded */
};

void log_header_encode(const struct log_header *h, char out[LOG_HEADER_SIZE]);
/*
 * The 28 bytes in front of a payload that consists of `n` parts, one after the other. f->data is
 * not looked at. The parts together hold at most LOG_PAYLOAD_MAX bytes.
 */
void log_frame_encode(
	const struct log_frame *f, const struct text *parts, size_t n, char out[LOG_FRAME_SIZE]);
/* Payload of a gap. */
void log_gap_encode(uint64_t lost, char out[LOG_GAP_SIZE]);
/* Lost bytes of a gap frame; LOG_LOST_UNKNOWN also for a payload of another size. */
uint64_t log_gap_lost(const struct log_frame *f);

/* What stands at a place of a segment. */
enum log_found {
	LOG_FOUND,   /* a good header or frame */
	LOG_CLEAN,   /* the end, nothing left over */
	LOG_TORN,    /* begun, not complete */
	LOG_CORRUPT, /* cannot be continued */
	LOG_FOUND_COUNT
};
const char *log_found_text(enum log_found f);
int log_found_from_text(struct text t);

/* A segment's beginning: LOG_FOUND, LOG_TORN or LOG_CORRUPT. */
enum log_found log_header_decode(struct text segment, struct log_header *ret);
/*
 * The frame at the start of `rest`, whose number must be `expected_seq`. LOG_FOUND: *ret (data is
 * a view into rest) and its whole size in *ret_size; else both are untouched.
 */
enum log_found log_frame_decode(
	struct text rest, uint64_t expected_seq, struct log_frame *ret, size_t *ret_size);

struct log_segment {
	uint64_t first_seq;
	uint64_t payload_bytes;
	uint64_t file_bytes;
};
/*
 * How many of the oldest segments go (list in order, oldest first; never the newest), and the
 * payload that goes with them (§11.4).
 */
size_t log_retention(
	const struct log_segment *segments, size_t n, uint64_t cap_bytes, uint64_t *ret_dropped);
/* File size at which a segment is full: max(1 MB, cap / 16). */
uint64_t log_segment_limit(uint64_t cap_bytes);
