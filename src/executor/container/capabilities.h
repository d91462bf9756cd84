/*
 * What a container executor can do (container-driver.md §20): a function of its configuration and
 * of facts gathered when it was made. Asking touches no engine.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "executor/container/options.h"
#include "executor/container/runtime.h"

struct capability_facts {
	uid_t euid;
	bool ip, nsenter;   /* the programs were found */
	bool nft;           /* found, and we may use it */
	bool filter;        /* the egress filter is enabled */
	int cgroup_version; /* as cgroup_version() */
	bool delegated;     /* cpu, memory and pids, all of them */
};

/* Why interfaces cannot be moved in. */
enum capabilities_reason {
	INTERFACES_POSSIBLE,
	INTERFACES_RUNTIME, /* a kernel of its own */
	INTERFACES_IP,
	INTERFACES_NSENTER,
	INTERFACES_ROOT,
	INTERFACES_REASON_COUNT
};
const char *capabilities_reason_text(enum capabilities_reason r);

/* Fields that are the same for every container executor are written by the JSON only. */
struct container_capabilities {
	bool virtualized;
	bool kernel_isolated;
	bool resource_limits; /* and pids_limit */
	bool network_egress;
	bool filtered_egress;
	bool egress_scope;
	bool gated;
	bool devices;
	enum capabilities_reason interfaces;
};

/* rootful, or control groups v2 with all of cpu, memory and pids delegated. */
bool capabilities_limits(const struct runtime *runtime, int cgroup_version, bool delegated);
/* options are normalized. */
struct container_capabilities capabilities_of(const struct container_options *options,
	const struct runtime *runtime, const struct capability_facts *facts);
/* What a run without a gate lacks on this engine (§9.2), in words: a list. */
must_check json_t *capabilities_ungated_to_json(enum engine engine);
/* All fields of the table in §20. */
must_check json_t *capabilities_to_json(const struct container_capabilities *c);
