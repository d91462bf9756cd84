/* Giving up (include/cloop/cancel.h), for the functions that get a cancel. */
#pragma once

#include "base/error.h"
#include "cloop/cancel.h"

/* To be polled: readable when the caller gives up. The cancel's own; -1 for NULL (nobody will). */
int lib_cancel_fd(const struct cloop_cancel *cancel);
/* 0, or -1 with `cancelled`; NULL is never set. */
must_check int lib_cancel_check(const struct cloop_cancel *cancel, struct error *err);
/*
 * Until the end of the scope, every wait of this thread in the tree gives up when the caller does
 * (sys/cancel.h).
 */
#define LIB_GIVE_UP(cancel) \
	__attribute__((cleanup(lib_cancel_end), unused)) int lib_before = lib_cancel_begin(cancel)
int lib_cancel_begin(const struct cloop_cancel *cancel);
void lib_cancel_end(const int *before);
/*
 * Waits until fd is readable, or writable (events as for poll()): 0, or -1 with `cancelled`, `io`.
 */
must_check int lib_cancel_wait(
	const struct cloop_cancel *cancel, int fd, short events, struct error *err);
