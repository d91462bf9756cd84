/*
 * Named points at which a test can break the program. Compiled always: the crash tests
 * (container-driver.md §25.9, §25.12) run the programs that are shipped.
 *
 * Inert unless CLOOP_FAULT is set in a process that is not set-user-ID or the like; it is read
 * once, at the first point that is met. Form: `point[:N][=action]`: at the Nth time (default: the
 * first) that this process meets `point`, and at no other,
 *
 *     fail       fault_hit() answers true, and the caller fails as the system would (the default)
 *     kill       SIGKILL to the process itself
 *     stop       SIGSTOP to the process itself; it goes on after SIGCONT
 *     sleep:MS   it sleeps, then goes on
 *
 * Text that is not of this form is reported once and arms nothing. A child gets the variable only
 * if its environment names it: who starts one that is to be broken passes CLOOP_FAULT on.
 *
 * Points of this layer: `spawn` (start of a child), `file-replace`, `file-write`, `file-memfd`,
 * `file-dirs`, `lock`. Others are named by their callers, e.g. `start:9-fifos`: a name may hold
 * colons, only `:` and digits at its end is a count.
 */
#pragma once

#include <stdbool.h>

/* True: fail here. One branch when nothing is armed. */
bool fault_hit(const char *point);
/*
 * Arms by hand instead of by the environment, counting from 0 (text is copied); NULL disarms.
 * For tests that go over every n inside one process.
 */
void fault_arm(const char *text);
/* Something is armed and was not met yet. */
bool fault_armed(void);
