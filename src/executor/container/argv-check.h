/*
 * The checks of a run before its mounts, in the order of container-driver.md §6.5, and what they
 * decide for the line.
 */
#pragma once

#include "executor/container/argv.h"

struct argv_check {
	const struct runtime *runtime;
	const struct container_options *options;
	const struct container_request *request;
	const struct request_host *host;
	/* Filled by argv_check(): */
	bool standalone;     /* the runtime has a kernel of its own (§9.2) */
	bool network_made;   /* the network was made for this run */
	bool network_off;    /* the network word is none */
	struct text network; /* the network word (§6.4) */
};

/* Everything of §6.5 up to executor_unsupported. */
must_check int argv_check(struct argv_check *c, struct error *err);
/* The command alone: argv_empty, argv_invalid, argv_too_large. */
must_check int argv_check_words(const struct container_request *r, struct error *err);
/* Some extra argument begins with `prefix`. */
bool argv_check_has_extra(const struct argv_check *c, const char *prefix);
