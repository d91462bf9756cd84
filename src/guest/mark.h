/* The processes of an attach session: those with its mark and their descendants (§18.2). */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MARK_TEXT = 32, /* hex digits */
	MARK_KIN_MAX = 256,
};
#define MARK_VARIABLE "CLOOP_ATTACH="

/*
 * Members without the mark: they are known by their parent, and would be lost when it dies between
 * two looks. Starts as zeros; what does not fit is not remembered.
 */
struct mark_kin {
	size_t n;
	struct {
		pid_t pid;
		uint64_t start; /* of the process, in the kernel's ticks: a pid can come again */
	} list[MARK_KIN_MAX];
};

struct mark_count {
	uint32_t found;      /* processes of the session that live */
	uint32_t unreadable; /* whose environment cannot be read: may belong to it */
	uint32_t empty;      /* without one: in the middle of an exec, or really empty */
};

/*
 * Finds every process of the sandbox but PID 1 whose environment has CLOOP_ATTACH=mark, `leader`
 * (not reaped yet; 0 = it is), what is in *kin, and all their descendants; sends `signal` to each
 * (0 = none) and keeps *kin for the next look. Descendants of those that never stop making more
 * may be left for it.
 */
void mark_signal(const char mark[MARK_TEXT], pid_t leader, struct mark_kin *kin, int signal,
	struct mark_count *ret);
