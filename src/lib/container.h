/* The inside of a container executor, for the library's own files. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/strv.h"
#include "cloop/container.h"
#include "executor/container/driver/driver.h"
#include "image/policy.h"
#include "image/provenance.h"
#include "lib/cancel.h"
#include "lib/error.h"

struct lib_revocations; /* what went through the object */

struct cloop_container {
	atomic_size_t references;
	struct executor *executor; /* its driver's home is NULL: see struct lib_call */
	struct egress_filter filter;
	struct image_policy policy;
	struct provenance_rules provenance;
	struct cloop_runtime runtime;           /* views into the driver's */
	struct cloop_capabilities capabilities; /* likewise */

	pthread_mutex_t lock; /* of what follows */
	/* All homes that it had, the last one counts: calls in progress go on using theirs. */
	struct strv homes;
	char *private_home;  /* made for it, and removed with it; NULL = it never needed one */
	pid_t private_owner; /* who made that: a fork()ed child has only a copy */
	struct lib_revocations *revocations;
};

/* Fills in what callers are told of the executor (runtime, capabilities): once, when it is made. */
void lib_container_show(struct cloop_container *c);

/*
 * One call: an executor of its own, whose home is the one that counts now and whose checks give up
 * when the caller's cancel says so (NULL = never). Nothing is to be released; nothing in it
 * outlives the container.
 */
struct lib_call {
	struct container_driver driver;
	struct executor executor;
	const char *home; /* of runs; absolute */
	int cancel_fd;    /* to be given to a start; -1 = none */
};
void lib_call_begin(
	struct cloop_container *c, const struct cloop_cancel *cancel, struct lib_call *ret);
