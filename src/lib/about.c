/* What a container executor is: told from what is known, nobody is asked. */
#include "executor/container/validate.h"
#include "lib/container.h"
#include "lib/runtime.h"

static struct container_driver *driver_of(const struct cloop_container *c)
{
	return container_driver_of(c->executor);
}

static struct oci_class class_of(const struct cloop_container *c)
{
	return oci_class_of(text_of(driver_of(c)->options.oci_runtime));
}

static struct cloop_capabilities show_capabilities(const struct candidate *a)
{
	return (struct cloop_capabilities){
		.isolation = a->isolation.p,
		.virtualized = a->virtualized,
		.kernel_isolated = a->kernel_isolated,
		.stream = a->stream,
		.signal = a->signal,
		.attach = a->attach,
		.revocation = a->revocation,
		.shares_host_filesystem = a->shares_host_filesystem,
		.image_override = a->image_override,
		.sandbox_build = a->sandbox_build,
		.sandbox_mounts = a->sandbox_mounts,
		.host_mounts = a->host_mounts,
		.secret_files = a->secret_files,
		.secret_files_from_host_path = a->secret_files_from_host_path,
		.workspace_provisioning = a->workspace_provisioning,
		.resource_limits = a->resource_limits,
		.pids_limit = a->pids_limit,
		.disk_enforcement = a->disk_enforcement.p,
		.network_off = a->network_off.p,
		.network_egress = a->network_egress,
		.filtered_egress = a->filtered_egress,
		.egress_scope = a->egress_scope,
		.gated = a->gated,
		.devices = a->devices,
		.interfaces = a->interfaces,
		.interfaces_reason = a->interfaces_reason.len > 0 ? a->interfaces_reason.p : "",
	};
}

void lib_container_show(struct cloop_container *c)
{
	struct candidate able;

	/* Its texts are the driver's literals. */
	executor_capabilities(c->executor, &able);
	c->capabilities = show_capabilities(&able);
	c->runtime = lib_runtime_show(&driver_of(c)->runtime);
}

const char *cloop_container_id(const struct cloop_container *container)
{
	return container ? container->executor->id : "";
}

const char *cloop_container_kind(const struct cloop_container *container)
{
	return container ? executor_kind(container->executor) : "";
}

const char *cloop_container_image(const struct cloop_container *container)
{
	return container ? driver_of(container)->options.image : "";
}

const char *cloop_container_oci_runtime(const struct cloop_container *container)
{
	return container ? driver_of(container)->options.oci_runtime : "";
}

const struct cloop_runtime *cloop_container_runtime(const struct cloop_container *container)
{
	return container ? &container->runtime : NULL;
}

bool cloop_container_kernel_isolated(const struct cloop_container *container)
{
	return container && oci_class_kernel_isolated(class_of(container));
}

bool cloop_container_virtualized(const struct cloop_container *container)
{
	return container && class_of(container).virtualized;
}

bool cloop_container_supports_revocation(const struct cloop_container *container)
{
	return container && container->capabilities.revocation;
}

const struct cloop_capabilities *cloop_container_capabilities(
	const struct cloop_container *container)
{
	return container ? &container->capabilities : NULL;
}
