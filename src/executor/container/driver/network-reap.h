/* Removing networks and tables that dead runs left behind (network.md §9.7). */
#pragma once

#include "executor/container/runtime.h"
#include "executor/rundir/home.h"

struct network_reap {
	const struct runtime *runtime;
	const struct strv *env; /* client_environment() */
	const struct home *home;
	struct strv *names; /* gets the networks that were removed */
};

/* One failure does not stop the others; the first one is told. */
must_check int network_reap_run(const struct network_reap *r, struct error *err);
