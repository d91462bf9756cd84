/*
 * The localprocess executor (sandbox-spec.md §14): runs a command on this host as our own user, in
 * the project directory. It isolates nothing: no image, no mounts, no limits, no network rules; a
 * wish for any of them is refused. It exists only where the operator set
 * executors.allow_host_process.
 */
#pragma once

#include "executor/executor.h"

#define LOCAL_DRIVER_ID "localprocess"

/* home: cloop's; NULL = none yet. */
must_check struct executor *local_driver_new(const char *home);
/* What it advertises, switched on or not. */
void local_driver_capabilities(struct candidate *ret);
