/*
 * The deadline of a run (container-driver.md §14.4): CLOCK_BOOTTIME of one boot, so that steps of
 * the wall clock and suspend do not matter. Pure.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"

enum deadline_state {
	DEADLINE_NONE,     /* the run has none */
	DEADLINE_REBOOTED, /* it was set in another boot */
	DEADLINE_FIRE,     /* it is now or past */
	DEADLINE_WAIT
};

struct deadline {
	int64_t boottime_ms; /* 0 = none */
	struct text boot_id;
};

/* *ret_wait_ms is filled for DEADLINE_WAIT. */
enum deadline_state deadline_judge(const struct deadline *d, struct text boot_id_now,
	int64_t now_boottime_ms, int64_t *ret_wait_ms);
