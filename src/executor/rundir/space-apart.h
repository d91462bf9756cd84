/*
 * A reading of free space by a thread of its own, for filesystems that answer when somebody else
 * does: a server that is gone must not hold up who supervises a run. One thread, one reading.
 */
#pragma once

#include "executor/rundir/space.h"

struct space_apart;

/* NULL: no thread is to be had. */
must_check struct space_apart *space_apart_begin(const struct space *s);
/* Readable once there is an answer. */
int space_apart_fd(const struct space_apart *a);
/* Of one that is readable. */
const struct space_reading *space_apart_answer(const struct space_apart *a);
/* In every case, answered or not; NULL is fine. */
void space_apart_end(struct space_apart *a);
