/* Between spawn.c, spawn-capture.c and child.c. */
#pragma once

#include <limits.h>

#include "sys/spawn.h"

/* A child that a hook answered. No process has this number (the kernel's highest is 2^22). */
enum { SPAWN_ANSWERED_PID = INT_MAX };

/* Did the hook answer? */
must_check bool spawn_answer(const struct spawn *s, struct captured *answer);
/* spawn_start() past the hook. */
must_check int spawn_start_real(const struct spawn *s, struct child *ret, struct error *err);
