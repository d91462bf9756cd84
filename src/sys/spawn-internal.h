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
/* The same as a child of our own, whatever spawn_keeper_use() says. */
must_check int spawn_start_own(const struct spawn *s, struct child *ret, struct error *err);
/* The same without a pidfd: for who is told of its end in another way. */
must_check int spawn_start_unwatched(const struct spawn *s, pid_t *ret_pid, struct error *err);
/* The highest number that the child gets. */
int spawn_highest_fd(const struct spawn *s);

/* spawn-keeper.c: by a keeper, if one is used. */
must_check char *spawn_keeper_program(void); /* NULL = none is used */
must_check int spawn_keeper_start(
	const struct spawn *s, const char *program, struct child *ret, struct error *err);
/* As child_wait() and child_try_wait() (nohang). */
must_check int spawn_keeper_collect(struct child *c, bool nohang, int *ret_status);
void spawn_keeper_kill(const struct child *c);
