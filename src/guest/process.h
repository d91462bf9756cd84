/*
 * What an init does to itself before it starts anything: a known set of descriptors, every signal
 * blocked and read from a descriptor, and the clock it lives by (container-driver.md §23.2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Leaves 0-2 open (on /dev/null where there was nothing) and nothing else, blocks all signals.
 * The signalfd (CLOEXEC, not blocking), or -1 with errno.
 */
int process_prepare(void);
/* From now on nobody of the same uid can read or trace this process. */
void process_undumpable(void);
/* CLOCK_BOOTTIME in milliseconds. */
uint64_t process_now_ms(void);

/* The signals that are passed on to the workload; SIGCHLD is reported as `child` instead. */
struct caught {
	uint32_t numbers[16];
	unsigned n;
	bool child;
};
/* What arrived at the signalfd since; at most 16 signals a call, the rest waits. */
void process_read_signals(int signals, struct caught *ret);

/* One line to stderr: "cloop init: " and the parts, which end with NULL; cut after 1 KiB. */
void process_complain(const char *const *parts);
