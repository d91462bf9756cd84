/*
 * The host's network interfaces in a run (container-driver.md §17.2).
 *
 * Theory of operation. An interface is moved into the sandbox's network namespace before `go`, and
 * back at every end. What it was (name, index, MAC, MTU, up) is in RUN/interfaces.json before
 * anything is done to it, so that any supervisor can give it back: it looks for the interface where
 * it may be - here under any name, or in the namespace - and does what is still to be done. The
 * namespace is held by a descriptor, and by a mount at RUN/netns: without the latter a virtual
 * interface would be lost when the sandbox ends while there is no supervisor. Both files go when
 * everything is back; of a stranded interface they stay, the record names it, and whoever looks at
 * the run later tries again (rundir_has_leftovers).
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct supervisor;

struct interfaces {
	int ns;   /* the sandbox's namespace; -1 = none is held */
	bool out; /* something may not be where it belongs */
};
#define INTERFACES_INIT ((struct interfaces){.ns = -1})
void interfaces_done(struct interfaces *i);

/*
 * Step 14. -1: executor_unsupported, interface_in_use, interface_failed; everything is back then,
 * or the message names what is stranded.
 */
must_check int interfaces_give(struct supervisor *s, struct error *err);
/* A new supervisor: is there anything that will have to come back? */
void interfaces_restore(struct supervisor *s);
/* Takes all back, in reverse order. Idempotent; what cannot be done becomes a warning. */
void interfaces_return(struct supervisor *s);
