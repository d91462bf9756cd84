#include "executor/constraint.h"

#include "base/enum-text.h"
#include "base/mem.h"

static const char *const names[] = {
	[CONSTRAINT_EXECUTOR_ID] = "executor_id",
	[CONSTRAINT_HEALTH] = "health",
	[CONSTRAINT_HOST_EXECUTION_POLICY] = "host_execution_policy",
	[CONSTRAINT_AGENT_BUILD] = "agent_build",
	[CONSTRAINT_ISOLATION] = "isolation",
	[CONSTRAINT_VIRTUALIZATION] = "virtualization",
	[CONSTRAINT_KERNEL_ISOLATION] = "kernel_isolation",
	[CONSTRAINT_LABELS] = "labels",
	[CONSTRAINT_PLATFORM] = "platform",
	[CONSTRAINT_ARCH] = "arch",
	[CONSTRAINT_HARNESS] = "harness",
	[CONSTRAINT_CONTAINER_RUNTIME] = "container_runtime",
	[CONSTRAINT_NETWORK_EGRESS] = "network_egress",
	[CONSTRAINT_NETWORK_OFF] = "network_off",
	[CONSTRAINT_RESOURCE_LIMITS] = "resource_limits",
	[CONSTRAINT_PIDS_LIMIT] = "pids_limit",
	[CONSTRAINT_DISK_LIMIT] = "disk_limit",
	[CONSTRAINT_IMAGE_OVERRIDE] = "image_override",
	[CONSTRAINT_SANDBOX_BUILD] = "sandbox_build",
	[CONSTRAINT_SANDBOX_MOUNTS] = "sandbox_mounts",
	[CONSTRAINT_HOST_MOUNTS] = "host_mounts",
	[CONSTRAINT_DEVICES] = "devices",
	[CONSTRAINT_INTERFACES] = "interfaces",
	[CONSTRAINT_EGRESS_SCOPE] = "egress_scope",
	[CONSTRAINT_WORKSPACE] = "workspace",
	[CONSTRAINT_WRITE_BACK] = "write_back",
	[CONSTRAINT_SECRET_FILES] = "secret_files",
	[CONSTRAINT_REVOCATION] = "revocation",
	[CONSTRAINT_STREAM] = "stream",
	[CONSTRAINT_SIGNAL] = "signal",
	[CONSTRAINT_MEMORY] = "memory",
	[CONSTRAINT_CAPACITY] = "capacity",
};
ENUM_TEXT(constraint, names, CONSTRAINT_COUNT)

/* What is not listed comes from no key of the file. */
static const struct origin {
	const char *file_key;
	bool wants_sandbox;
} origins[CONSTRAINT_COUNT] = {
	[CONSTRAINT_VIRTUALIZATION] = {"capabilities.virtualized", true},
	[CONSTRAINT_KERNEL_ISOLATION] = {"capabilities.kernel_isolated", true},
	[CONSTRAINT_HARNESS] = {"capabilities.git", false},
	[CONSTRAINT_NETWORK_EGRESS] = {"capabilities.network", true},
	[CONSTRAINT_NETWORK_OFF] = {NULL, true},
	[CONSTRAINT_RESOURCE_LIMITS] = {"resources", true},
	[CONSTRAINT_PIDS_LIMIT] = {"resources.pids", true},
	[CONSTRAINT_DISK_LIMIT] = {"resources.disk", true},
	[CONSTRAINT_IMAGE_OVERRIDE] = {"image", true},
	[CONSTRAINT_SANDBOX_BUILD] = {"setup", true},
	[CONSTRAINT_SANDBOX_MOUNTS] = {"mounts", true},
	[CONSTRAINT_DEVICES] = {"capabilities.devices", true},
	[CONSTRAINT_INTERFACES] = {"capabilities.interfaces", true},
	[CONSTRAINT_EGRESS_SCOPE] = {"capabilities.egress", true},
};

const char *constraint_file_key(enum constraint c)
{
	return origins[c].file_key;
}

static const char *const other_ways[CONSTRAINT_COUNT] = {
	[CONSTRAINT_HEALTH] = "cloop executor test ID shows what is wrong with one",
	[CONSTRAINT_HOST_EXECUTION_POLICY] =
		"enable an executor that isolates (cloop config init), or set "
		"executors.allow_host_process",
	[CONSTRAINT_AGENT_BUILD] = "update the agent, or set another executors.min_agent_build",
	[CONSTRAINT_ISOLATION] = "mend or enable an executor that isolates; one that does not is "
				 "taken only where it is named (cloop executor bind ID)",
	[CONSTRAINT_NETWORK_OFF] = "name a grant in capabilities.network",
	[CONSTRAINT_CAPACITY] = "wait until a run has ended",
};

/* Where what has a key may come from as well. */
static const char *const other_origins[CONSTRAINT_COUNT] = {
	[CONSTRAINT_HARNESS] = ", or take another provider (cloop project set provider NAME)",
	[CONSTRAINT_NETWORK_EGRESS] = ", and egress: public with it; or let the "
				      "operator give the executor a network: "
				      "executors.container.network, on a rootful engine with "
				      "egress_filter",
};

char *constraint_way_out(enum constraint c)
{
	const char *also = other_origins[c] ? other_origins[c] : "";

	if (origins[c].file_key)
		return mem_printf(
			"remove %s from .cloop/sandbox.yaml%s", origins[c].file_key, also);
	return mem_strdup(
		other_ways[c] ? other_ways[c] : "change what the operator configured for it");
}

bool constraint_wants_sandbox(enum constraint c)
{
	return origins[c].wants_sandbox;
}

bool constraint_denies_host(enum constraint c)
{
	return c == CONSTRAINT_HOST_EXECUTION_POLICY || c == CONSTRAINT_ISOLATION;
}
