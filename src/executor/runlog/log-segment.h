/* Names of a log's segments in RUN/log/ (container-driver.md §11.3). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { LOG_SEGMENT_NAME_SIZE = 25 };

/* A segment whose header is being written; no segment for anybody else. */
#define LOG_SEGMENT_NEW "new"
/* "%020u.seg" */
void log_segment_name(uint64_t first_seq, char out[LOG_SEGMENT_NAME_SIZE]);
/* False for any other name, and for 0. */
bool log_segment_from_name(const char *name, uint64_t *ret_first_seq);
/*
 * First numbers of all segments in the directory, ascending, without a hole: while segments are
 * made, up to one that was the youngest at some moment of the call. Caller frees *ret. `io` error.
 */
must_check int log_segment_list(int dir, uint64_t **ret, size_t *ret_n, struct error *err);

/*
 * A reader marks the youngest segment that it has open (a read lock of the open file description,
 * which ends with the reader however it ends); the writer asks whether anybody does.
 */
void log_segment_mark(int fd, bool marked);
bool log_segment_marked(int fd);
