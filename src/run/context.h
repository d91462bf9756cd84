/*
 * What a command that touches runs needs: the configuration as it is now, the executors it
 * describes, and cloop's home.
 */
#pragma once

#include "config/config.h"
#include "executor/executor-list.h"
#include "executor/rundir/home.h"

struct context {
	struct config config;
	struct executor_list executors;
	struct home home;
};
void context_done(struct context *c);

/*
 * config_path: the file, which may be absent; one that does not load refuses every image: its error
 * has `rule` policy-configuration (image-trust.md §3.2).
 */
must_check int context_open(
	const char *home, const char *config_path, struct context *ret, struct error *err);
/* The executor of this id, or (NULL) the one that unbound projects use. NULL: executor_unknown. */
must_check struct executor *context_executor(
	const struct context *c, const char *id, struct error *err);
