/*
 * Giving up. A thread may name a descriptor; while that is readable, its waits in this tree end
 * early: for children, supervisors, output. What has begun is undone or left as it was, as for a
 * timeout, and the call that waited fails with `cancelled`. Where a function takes a descriptor of
 * its own for this, that one counts instead.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* From now on, in this thread; -1 = none. Answers the one before, which the caller puts back. */
int cancel_use(int fd);
int cancel_fd(void);
bool cancel_asked(void);
/* Sleeps; true: cancelled before that, or meanwhile. */
bool cancel_pause(int64_t ms);
/* Fills err with `cancelled`; always -1. */
int cancel_refuse(struct error *err, const char *what);
