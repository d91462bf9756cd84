/* How long a grant lives (disk-and-secrets.md §14). Pure. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum { TTL_LEAST = 60, TTL_LARGEST = 365 * 86400, TTL_DEFAULT = 86400 }; /* seconds */

/*
 * `[Nd][Nh][Nm][Ns]` in that order, at least one part; N is 0 or digits without a leading zero, of
 * any length. In seconds. -1: ttl_invalid, ttl_out_of_range.
 */
must_check int ttl_parse(struct text t, int64_t *ret_seconds, struct error *err);
