/* Threads that work beside the one that has the loop. */
#pragma once

#include <pthread.h>

#include "base/cleanup.h"

/*
 * Runs fn(data) in a thread with a stack of that many bytes. Signals of the process never come to
 * it. ret = to be joined by pthread_join(); NULL: it ends by itself. -1: it cannot be had.
 */
must_check int thread_begin(pthread_t *ret, size_t stack, void *(*fn)(void *data), void *data);
