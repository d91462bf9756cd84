/*
 * Reading control groups of a process: v2, v1, or both (hybrid: v1 controllers beside a v2 mount
 * that holds none of ours). Nothing is ever written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum cgroup_controller {
	CGROUP_CPU,
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_CPUACCT,
	CGROUP_CONTROLLERS
};

/* Which version holds cpu, memory and pids on this host: 2, 1, or 0 = none found. */
int cgroup_version(void);
/*
 * v2 only: the controller is listed in cgroup.controllers of our user's manager
 * (user@UID.service), or where there is none of our own group, if we may divide it.
 */
bool cgroup_delegated(enum cgroup_controller c);
/* cpu, memory and pids, all of them. */
bool cgroup_limits_delegated(void);

/* Held directory descriptors of one process' groups; the group may vanish, the reads then fail. */
struct cgroup {
	int version;                      /* 1 or 2 */
	int dirs[CGROUP_CONTROLLERS];     /* v2: the same directory for all; -1 = none */
	char *paths[CGROUP_CONTROLLERS];  /* absolute, at or below the mount point; NULL = none */
	char *mounts[CGROUP_CONTROLLERS]; /* mount point */
};
#define CGROUP_INIT ((struct cgroup){.dirs = {[0 ... CGROUP_CONTROLLERS - 1] = -1}})
void cgroup_done(struct cgroup *g);
/* From /proc/PID/cgroup and /proc/self/mountinfo. io error when no controller can be located. */
must_check int cgroup_open(pid_t pid, struct cgroup *ret, struct error *err);

/*
 * The content of file `name` of the given controller in the process' group (level 0) or an ancestor
 * (level 1, 2, … up to the mount point): 0, 1 = no such level or file, trimmed text in buf.
 */
int cgroup_read(const struct cgroup *g, enum cgroup_controller c, unsigned level, const char *name,
	char *buf, size_t size);

/* CPU time consumed so far, in ms, and peak memory in bytes; -1 = not readable. */
int64_t cgroup_cpu_ms(const struct cgroup *g);
int64_t cgroup_memory_peak(const struct cgroup *g);
/* OOM kills counted in the group (v2 memory.events oom_kill, v1 memory.oom_control); -1 unknown. */
int64_t cgroup_oom_kills(const struct cgroup *g);
/*
 * A descriptor that becomes ready when the OOM counter may have changed: v1 an eventfd registered
 * through cgroup.event_control (the one write, to a file that exists for it), v2 memory.events
 * opened for EPOLLPRI. -1 when there is none. v1: also ready when the group is removed.
 */
int cgroup_oom_watch(const struct cgroup *g, bool *ret_priority);
/*
 * After each event: the descriptor is quiet until the next. Without it, it stays ready. Read the
 * counter after, not before, or an event between the two is lost.
 */
void cgroup_oom_seen(int fd);
