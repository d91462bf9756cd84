/*
 * Are the limits that were asked for held by the sandbox's control groups? (container-driver.md
 * §9.5.) Engines accept and show limits that they did not apply.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "executor/container/argv.h"
#include "limits/limits.h"
#include "sys/cgroup.h"

enum { READBACK_LEVELS_MAX = 64 };

/* Files of a control group; p = NULL where there is no such file. Surrounding blanks are fine. */
struct readback_level {
	struct text memory;     /* v2 memory.max, v1 memory.limit_in_bytes */
	struct text swap;       /* v2 memory.swap.max, v1 memory.memsw.limit_in_bytes */
	struct text cpu;        /* v2 cpu.max, v1 cpu.cfs_quota_us */
	struct text cpu_period; /* v1 cpu.cfs_period_us */
	struct text pids;       /* pids.max */
};
struct readback {
	int version;                         /* of the control groups: 1 or 2 */
	const struct readback_level *levels; /* innermost first */
	size_t n_levels;
	bool swap_on; /* the host has swap */
};

/*
 * limits_not_applied, with the missing ones as detail `resources` in the order memory, swap, cpu,
 * pids. For a guest with a memory of its own the caller asks for none.
 */
must_check int readback_check(
	const struct readback *r, const struct argv_limits *asked, struct error *err);
/* What is held in effect: the smallest of each; 0 = none. pids without the init. */
struct limits readback_effective(const struct readback *r);

/* Levels read from a process' groups, with the memory behind them. */
struct readback_levels {
	struct readback_level v[READBACK_LEVELS_MAX];
	size_t n;
	struct strv text;
};
void readback_levels_done(struct readback_levels *l);
/* Reads all levels up to the mount points. *ret must be empty. */
void readback_read(const struct cgroup *g, struct readback_levels *ret);
