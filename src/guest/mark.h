/* The processes of an attach session: those with its mark and their descendants (§18.2). */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { MARK_TEXT = 32 }; /* hex digits */
#define MARK_VARIABLE "CLOOP_ATTACH="

struct mark_count {
	uint32_t found;      /* processes of the session that live */
	uint32_t unreadable; /* whose environment cannot be read: may belong to it */
	uint32_t empty;      /* without one: in the middle of an exec, or really empty */
};

/*
 * Finds every process of the sandbox but PID 1 whose environment has CLOOP_ATTACH=mark, `leader`
 * (not reaped yet; 0 = it is), and all their descendants; sends `signal` to each (0 = none).
 */
void mark_signal(const char mark[MARK_TEXT], pid_t leader, int signal, struct mark_count *ret);
