#include "executor/container/capabilities.h"

#include "base/enum-text.h"
#include "base/json.h"
#include "executor/container/validate.h"

static const char *const reasons[] = {
	[INTERFACES_POSSIBLE] = "",
	[INTERFACES_RUNTIME] = "runtime",
	[INTERFACES_IP] = "ip",
	[INTERFACES_NSENTER] = "nsenter",
	[INTERFACES_ROOT] = "root",
};
static_assert(ARRAY_SIZE(reasons) == INTERFACES_REASON_COUNT, "a text for every reason");

const char *capabilities_reason_text(enum capabilities_reason r)
{
	assert((size_t)r < INTERFACES_REASON_COUNT);
	return reasons[r];
}

bool capabilities_limits(const struct runtime *runtime, int cgroup_version, bool delegated)
{
	return !runtime->rootless || (cgroup_version == 2 && delegated);
}

static enum capabilities_reason judge_interfaces(
	bool kernel_isolated, const struct capability_facts *facts)
{
	if (kernel_isolated)
		return INTERFACES_RUNTIME;
	if (!facts->ip)
		return INTERFACES_IP;
	if (!facts->nsenter)
		return INTERFACES_NSENTER;
	return facts->euid == 0 ? INTERFACES_POSSIBLE : INTERFACES_ROOT;
}

struct container_capabilities capabilities_of(const struct container_options *options,
	const struct runtime *runtime, const struct capability_facts *facts)
{
	struct oci_class class = oci_class_of(text_of(options->oci_runtime));
	bool isolated = oci_class_kernel_isolated(class);

	return (struct container_capabilities){
		.virtualized = class.virtualized,
		.kernel_isolated = isolated,
		.resource_limits =
			capabilities_limits(runtime, facts->cgroup_version, facts->delegated),
		.network_egress = !text_is(text_of(options->network), "none"),
		.filtered_egress = facts->filter && !runtime->rootless,
		.egress_scope = facts->nft && !runtime->rootless,
		.gated = !isolated,
		.devices = !isolated,
		.interfaces = judge_interfaces(isolated, facts),
	};
}

json_t *capabilities_ungated_to_json(enum engine engine)
{
	static const char *const lacks[] = {
		"a look at the sandbox from inside before the first instruction",
		"the exact wait status: the engine's exit code counts, so 139 may be SIGSEGV",
		"command_not_found: exit status 127 and a line on stderr, as of a shell",
		"processor time and memory of processes inside",
		"granted devices and interfaces",
		"attach through the init: the engine's exec, and what a session leaves is unknown",
	};
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(lacks); i++)
		json_array_append_new(list, json_string(lacks[i]));
	if (engine == ENGINE_DOCKER)
		json_array_append_new(list,
			json_string("limits checked before the first instruction; output between "
				    "the death of docker's client and its replacement"));
	return list;
}

static const char *const always[] = {"stream", "signal", "attach", "revocation",
	"shares_host_filesystem", "image_override", "sandbox_build", "sandbox_mounts",
	"host_mounts", "secret_files"};
static const char *const never[] = {"workspace_provisioning", "secret_files_from_host_path"};

json_t *capabilities_to_json(const struct container_capabilities *c)
{
	bool possible = c->interfaces == INTERFACES_POSSIBLE;
	json_t *o = json_pack(
		"{s:s, s:b, s:b, s:b, s:b, s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:o}",
		"isolation", c->virtualized ? "vm" : "container", "virtualized", c->virtualized,
		"kernel_isolated", c->kernel_isolated, "resource_limits", c->resource_limits,
		"pids_limit", c->resource_limits, "disk_enforcement", "sampled", "network_off",
		"enforced", "network_egress", c->network_egress, "filtered_egress",
		c->filtered_egress, "egress_scope", c->egress_scope, "gated", c->gated, "devices",
		c->devices, "interfaces", possible, "interfaces_reason",
		json_from_string(possible ? NULL : capabilities_reason_text(c->interfaces)));

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		json_object_set_new(o, always[i], json_true());
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		json_object_set_new(o, never[i], json_false());
	return o;
}
