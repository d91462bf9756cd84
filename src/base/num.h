/*
 * Strict reading of numbers, sizes, durations and times: no signs, no leading zeros, no blanks, no
 * wrap-around. Text of any length is judged; what is too large for the type says so.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum num_result {
	NUM_OK = 0,
	NUM_EMPTY,     /* nothing there */
	NUM_MALFORMED, /* not of the grammar */
	NUM_NEGATIVE,  /* `-` before text that would be valid without it */
	NUM_TOO_LARGE, /* of the grammar, above `max` or 64 bits; *ret is max */
};

/* `0` or digits without a leading zero. */
enum num_result num_parse(struct text t, uint64_t max, uint64_t *ret);
/*
 * `0` or digits, then optionally `.` and digits: in thousandths, rounded half up from the decimal
 * digits; a value above 0 gives at least 1 (sandbox-spec.md §5, cpu). Above max: max,
 * NUM_TOO_LARGE.
 */
enum num_result num_parse_millis(struct text t, uint64_t max, uint64_t *ret);
/*
 * `(0|[1-9][0-9]*)[bkmgt]?`, unit in either case, no unit = MB (2^20), rounded up to whole MB
 * (sandbox-spec.md §6). Does not trim. NUM_TOO_LARGE above max (in MB).
 */
enum num_result num_parse_size_mb(struct text t, uint64_t max, uint64_t *ret);
/*
 * The command line's durations: digits with one unit of `ms s m h d`, or digits alone = seconds;
 * in milliseconds, at most one year.
 */
enum num_result num_parse_duration_ms(struct text t, uint64_t *ret);
/*
 * RFC 3339 as container-driver.md §16.3 takes it: `T`, optional fraction of 1-9 digits, `Z` or
 * +-hh:mm, seconds <= 59, a real calendar date. False otherwise, or before 1970. What lies beyond
 * the range (2262) is INT64_MAX: a time in the future like any other.
 */
bool num_parse_rfc3339(struct text t, int64_t *ret_ns);
