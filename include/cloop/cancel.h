/*
 * libcloop: giving up (container-driver.md §22: what a context is in Go). A cancel has a deadline
 * and an eventfd; functions that may take long get one, or NULL = as long as it takes. A function
 * that gives up leaves nothing behind that it began, and fails with `start_cancelled` (start) or
 * `cancelled` (everything else). What already runs is not stopped by it.
 */
#pragma once

#include <cloop/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* May be used by any number of calls and threads at once, and by one call after the other. */
struct cloop_cancel;

/*
 * timeout_ms from now on CLOCK_BOOTTIME (so that a suspended machine does not stretch it), 0 = at
 * once, negative = none. Released by cloop_cancel_free(). Errors: io (no descriptors left).
 */
CLOOP_API CLOOP_MUST_CHECK int cloop_cancel_new(
	int64_t timeout_ms, struct cloop_cancel **cancel, struct cloop_error *err);
/* No call may use it any more. */
CLOOP_API void cloop_cancel_free(struct cloop_cancel *cancel);
/*
 * Makes every call give up that uses it, now and later. From any thread, and from a signal handler;
 * errno is kept.
 */
CLOOP_API void cloop_cancel_trigger(const struct cloop_cancel *cancel);
/* Triggered, or past its deadline. */
CLOOP_API bool cloop_cancel_is_set(const struct cloop_cancel *cancel);
/*
 * Its eventfd, which an event loop or another process may write to (8 bytes, not 0) instead of
 * cloop_cancel_trigger(). The cancel's own: not to be closed or read.
 */
CLOOP_API int cloop_cancel_fd(const struct cloop_cancel *cancel);

#ifdef __cplusplus
}
#endif
