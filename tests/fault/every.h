/*
 * Runs a scenario again and again; each time the system fails one call later, until it passes
 * whole. What must hold each time: the scenario says that it failed (-1, with an error), it leaves
 * no descriptor and no child behind, and its own check finds nothing half done.
 */
#pragma once

#include "unit/unit-fds.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "sys/fault.h"

struct scenario {
	const char *name;
	int (*run)(void *data, struct error *err);
	/* NULL, or judges what is left; `done` = the run said 0. Nothing fails while it looks. */
	void (*check)(void *data, bool done);
	void *data;
};

enum { EVERY_MAX = 200 };

/* The limit below which exactly n descriptor numbers are free. */
static inline rlim_t every_limit(unsigned n)
{
	int fd = 0;

	for (;; fd++)
		if (fcntl(fd, F_GETFD) < 0 && n-- == 0)
			return (rlim_t)fd;
}

/* One run with that limit of descriptors and whatever is armed; true = it passed whole. */
static inline bool every_run_once(const struct scenario *s, const char *what, rlim_t descriptors)
{
	auto_error struct error err = ERROR_INIT;
	size_t before = unit_fds_count();
	struct rlimit normal;

	getrlimit(RLIMIT_NOFILE, &normal);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){descriptors, normal.rlim_max});
	int r = s->run(s->data, &err);
	setrlimit(RLIMIT_NOFILE, &normal);
	if (r != 0 && (r != -1 || error_is(&err, ERROR_NONE) || err.message[0] == '\0'))
		fail_msg("%s, %s: %d without an error", s->name, what, r);
	if (unit_fds_count() != before)
		fail_msg("%s, %s: descriptors left", s->name, what);
	if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
		fail_msg("%s, %s: child left", s->name, what);
	if (s->check)
		s->check(s->data, r == 0);
	return r == 0;
}

/* The n-th time that `point` (fault.h) is met fails, for every n. `least`: so often it is met. */
static inline void every_hit(const struct scenario *s, const char *point, unsigned least)
{
	for (unsigned n = 1; n < EVERY_MAX; n++) {
		auto_free char *armed = mem_printf("%s:%u", point, n);
		fault_arm(armed);
		bool whole = every_run_once(s, armed, every_limit(EVERY_MAX));
		bool met = !fault_armed();
		fault_arm(NULL);
		if (met && whole)
			fail_msg("%s, %s: failed and nobody said so", s->name, armed);
		if (whole && n <= least)
			fail_msg("%s: %s is met %u times only", s->name, point, n - 1);
		if (whole)
			return;
	}
	fail_msg("%s: %s never passes", s->name, point);
}

/* There are n descriptors to be had at a time and no more, for every n. */
static inline void every_descriptor(const struct scenario *s)
{
	for (unsigned n = 0; n < EVERY_MAX; n++) {
		auto_free char *what = mem_printf("%u descriptors", n);
		bool whole = every_run_once(s, what, every_limit(n));
		if (whole && n == 0)
			fail_msg("%s: needs no descriptor?", s->name);
		if (whole)
			return;
	}
	fail_msg("%s: never passes", s->name);
}
