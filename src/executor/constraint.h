/* Why an executor does not take a workload (sandbox-spec.md §12.2, §13). */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/text.h"

/* In the order of the checks; workspace occurs in two rows. */
enum constraint {
	CONSTRAINT_EXECUTOR_ID,
	CONSTRAINT_HEALTH,
	CONSTRAINT_HOST_EXECUTION_POLICY,
	CONSTRAINT_AGENT_BUILD,
	CONSTRAINT_ISOLATION,
	CONSTRAINT_VIRTUALIZATION,
	CONSTRAINT_KERNEL_ISOLATION,
	CONSTRAINT_LABELS,
	CONSTRAINT_PLATFORM,
	CONSTRAINT_ARCH,
	CONSTRAINT_HARNESS,
	CONSTRAINT_CONTAINER_RUNTIME,
	CONSTRAINT_NETWORK_EGRESS,
	CONSTRAINT_NETWORK_OFF,
	CONSTRAINT_RESOURCE_LIMITS,
	CONSTRAINT_PIDS_LIMIT,
	CONSTRAINT_DISK_LIMIT,
	CONSTRAINT_IMAGE_OVERRIDE,
	CONSTRAINT_SANDBOX_BUILD,
	CONSTRAINT_SANDBOX_MOUNTS,
	CONSTRAINT_HOST_MOUNTS,
	CONSTRAINT_DEVICES,
	CONSTRAINT_INTERFACES,
	CONSTRAINT_EGRESS_SCOPE,
	CONSTRAINT_WORKSPACE,
	CONSTRAINT_WRITE_BACK,
	CONSTRAINT_SECRET_FILES,
	CONSTRAINT_REVOCATION,
	CONSTRAINT_STREAM,
	CONSTRAINT_SIGNAL,
	CONSTRAINT_MEMORY,
	CONSTRAINT_CAPACITY,
	CONSTRAINT_COUNT
};
const char *constraint_text(enum constraint c);
int constraint_from_text(struct text t);

/*
 * Path of the key of .cloop/sandbox.yaml behind the constraint ("resources.pids"); NULL where there
 * is none (network_off comes from a key that is absent).
 */
const char *constraint_file_key(enum constraint c);
/*
 * What there is to do about it where no other executor helps ("remove image from
 * .cloop/sandbox.yaml"). Caller frees.
 */
must_check char *constraint_way_out(enum constraint c);
/* It is one of those of §13 that a key of the file brings up and only a sandbox can satisfy. */
bool constraint_wants_sandbox(enum constraint c);
/* The constraint itself says that the executor does not isolate. */
bool constraint_denies_host(enum constraint c);
