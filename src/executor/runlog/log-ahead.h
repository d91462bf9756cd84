/*
 * Segments that a reader keeps open before it gets to them. A writer deletes the oldest ones
 * (container-driver.md §11.4) and waits for nobody, so a reader that falls behind a flood would
 * lose what it had all the time to open. What is held stays on the disk until it is read: at most
 * LOG_AHEAD_BYTES; of a log with larger segments LOG_AHEAD_LEAST of them, which is that log's
 * bound.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { LOG_AHEAD_MAX = 256, LOG_AHEAD_LEAST = 16, LOG_AHEAD_BYTES = 1 << 30 };

struct log_ahead {
	size_t n;
	uint64_t first_seq[LOG_AHEAD_MAX]; /* ascending */
	int fds[LOG_AHEAD_MAX];
};
/* No more is opened. */
bool log_ahead_full(const struct log_ahead *a);
void log_ahead_done(struct log_ahead *a);

/*
 * Opens the segments of the directory that begin behind `after`. What cannot be opened, or is more
 * than fits, is left for the next look.
 */
void log_ahead_look(struct log_ahead *a, int dir, uint64_t after);
/* The youngest that is open, still the list's; -1 = none. */
int log_ahead_youngest(const struct log_ahead *a, uint64_t *ret_first_seq);
/* The descriptor of that segment for the caller to close, or -1; those before it are let go. */
int log_ahead_take(struct log_ahead *a, uint64_t first_seq);
/* As log_segment_list, with those that are only held. */
must_check int log_ahead_list(
	const struct log_ahead *a, int dir, uint64_t **ret, size_t *ret_n, struct error *err);
