/*
 * What works on this host: for `cloop config init` (config.md §3). Runs real containers of an empty
 * image that it makes and removes.
 */
#pragma once

#include "base/strv.h"
#include "executor/rundir/home.h"

struct probe {
	char *runtime;       /* "podman", "docker"; NULL = no engine starts a container here */
	char *oci_runtime;   /* "" = the engine's own; NULL with runtime */
	bool selinux;        /* it enforces: sources of mounts need a label */
	struct strv found;   /* lines for people */
	struct strv missing; /* lines, each with what to install or do */
};
#define PROBE_INIT ((struct probe){.found = STRV_INIT(64), .missing = STRV_INIT(64)})
void probe_done(struct probe *p);

/* What cannot be found out is a line in `missing`, not an error. */
void probe_host(const struct home *home, struct probe *ret);
