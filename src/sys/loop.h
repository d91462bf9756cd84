/*
 * A small epoll loop: descriptors, timers on CLOCK_BOOTTIME, child pidfds are just descriptors.
 * Single-threaded; a callback may add and remove anything, itself included. Not sd-event: the
 * shim's memory budget (container-driver.md §25.19) does not bear libsystemd; see ARCHITECTURE.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/error.h"

struct loop;
struct loop_source;
typedef void loop_io_fn(void *data, uint32_t events);
typedef void loop_timer_fn(void *data);

must_check struct loop *loop_new(struct error *err);
void loop_free(struct loop *l);
DEFINE_AUTO_PTR(loop)

/*
 * Watches fd for `events` (EPOLLIN …; level-triggered). The fd stays the caller's. NULL with errno
 * for a descriptor that cannot be watched (EPERM: a regular file; EEXIST: watched already).
 */
must_check struct loop_source *loop_watch(
	struct loop *l, int fd, uint32_t events, loop_io_fn *fn, void *data);
/* events = 0 keeps the source but hears nothing but errors. */
void loop_change(struct loop_source *s, uint32_t events);
/* Once, at boottime `at_ms`; the source frees itself before fn is called. Never NULL. */
must_check struct loop_source *loop_at(
	struct loop *l, int64_t at_ms, loop_timer_fn *fn, void *data);
/* Removes and forgets; NULL is fine. Must precede close of a watched fd. */
void loop_remove(struct loop_source *s);

/*
 * Runs until loop_stop() (a stop before the run ends it at once), or until nothing is left to wait
 * for. In one round descriptors come first, then the timers that are due, earliest first.
 */
must_check int loop_run(struct loop *l, struct error *err);
void loop_stop(struct loop *l);
