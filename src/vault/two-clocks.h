/*
 * Ends of grants by two clocks (disk-and-secrets.md §17): a wall clock that is set back must not
 * make a credential live longer, so what was minted in this boot also ages by boottime. Pure.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"

/* A moment on both clocks. */
struct two_clocks {
	int64_t realtime; /* seconds since 1970 */
	int64_t boottime_ms;
	struct text boot_id; /* "" = not known */
};

/*
 * When something that began at `begun` and was to end at `end` ends by the wall clock of `now`: at
 * `end`, or earlier where the wall clock was set back since.
 */
int64_t two_clocks_end(const struct two_clocks *begun, int64_t end, const struct two_clocks *now);
/*
 * Milliseconds that are left to something that is to end at `end` on the wall clock as it went at
 * `begun`; 0 or less: it is over. In the same boot by boottime, so that a step of the wall clock
 * neither lengthens nor shortens it; in another one by the wall clock of now.
 */
int64_t two_clocks_left_ms(
	const struct two_clocks *begun, int64_t end, const struct two_clocks *now);
