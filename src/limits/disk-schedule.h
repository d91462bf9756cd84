/*
 * When the disk use of a run is measured (disk-and-secrets.md §6). Pure: times are given, in
 * milliseconds of CLOCK_BOOTTIME.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_schedule {
	int64_t min_ms, max_ms, first_ms; /* <= 0: the default */
	int64_t cost_factor;
	int64_t deadline_ms; /* of one walk */
};
/* With defaults filled in, and each bound brought in line with the others. */
struct disk_schedule disk_schedule_resolve(struct disk_schedule s);

/* Of a walk: how long it took, or the CPU time of all its threads where that is more. */
int64_t disk_schedule_cost(int64_t took_ms, int64_t cpu_us);

/* What one walk found, what it cost, and when it was done. */
struct disk_sample {
	uint64_t bytes;
	int64_t cost_ms, at_ms;
};

/* Until the next walk; prev may be NULL. s: resolved. limit_mb 0: no limit. */
int64_t disk_schedule_next(const struct disk_schedule *s, const struct disk_sample *cur,
	const struct disk_sample *prev, uint64_t limit_mb);
/* The same after a walk that found only a lower bound. */
int64_t disk_schedule_after_unknown(const struct disk_schedule *s, int64_t cost_ms);

/* The loop of one run. Each step says what to do; `wait_ms` belongs to DISK_WAIT and DISK_UNKNOWN.
 */
enum disk_action {
	DISK_WAIT,    /* measure again after wait_ms */
	DISK_UNKNOWN, /* the same, and the use is not known */
	DISK_BREACH,  /* stop the run, then disk_schedule_stopped() */
	DISK_RETURN,  /* nothing more to do */
};
struct disk_step {
	enum disk_action action;
	int64_t wait_ms;
};
struct disk_measure {
	struct disk_sample sample;
	bool incomplete; /* sample.bytes is a lower bound */
	bool over_names; /* the run has added more names than it may (§7.2) */
	bool ended;      /* the run ended, or was cancelled, meanwhile */
};
struct disk_loop {
	struct disk_schedule schedule;
	uint64_t limit_mb;
	bool has_prev;
	struct disk_sample prev;
};
/* `initial` is the sample of the start, or NULL; the first wait. */
int64_t disk_loop_begin(struct disk_loop *l, struct disk_schedule schedule, uint64_t limit_mb,
	const struct disk_sample *initial);
struct disk_step disk_loop_measured(struct disk_loop *l, const struct disk_measure *m);
/* After DISK_BREACH: the stop did or did not succeed. */
struct disk_step disk_loop_stopped(const struct disk_loop *l, bool stopped);
