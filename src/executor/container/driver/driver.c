#include "executor/container/driver/driver.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/capabilities.h"
#include "executor/container/detect.h"
#include "executor/container/driver/daemon.h"
#include "executor/container/driver/revoke.h"
#include "executor/container/driver/shim.h"
#include "executor/container/ip-program.h"
#include "executor/container/network/nft-call.h"
#include "executor/rundir/rundir-ops.h"
#include "sys/cgroup.h"
#include "sys/clock.h"
#include "sys/fault.h"

static void driver_free(void *data)
{
	struct container_driver *d = data;

	container_options_done(&d->options);
	runtime_done(&d->runtime);
	free(d->home);
	free(d);
}

static int driver_health_check(const struct executor *e, struct error *err)
{
	const struct container_driver *d = container_driver_of(e);
	AUTO(strv) env = STRV_INIT(64);
	struct daemon_question q = {.runtime = &d->runtime, .env = &env, .cancel_fd = -1};
	auto_free char *home = mem_strdup(d->home ? d->home : "/nonexistent");

	environment_client(d->runtime.engine, environ, d->runtime.endpoint, home, &env);
	return daemon_ask(&q, err);
}

static const struct executor_ops container_ops = {
	.kind = "container",
	.capabilities = container_driver_capabilities,
	.health_check = driver_health_check,
	.start = container_driver_start,
	.signal = rundir_ops_signal,
	.stop = rundir_ops_stop,
	.status = rundir_ops_status,
	.handles = rundir_ops_handles,
	.attach = container_driver_attach,
	.revoke_lease = container_driver_revoke,
	.preflight = container_driver_preflight,
	.smoke_test = container_driver_smoke_test,
	.reap_orphans = container_driver_reap,
	.free = driver_free,
};

struct container_driver *container_driver_of(const struct executor *e)
{
	return e->ops == &container_ops ? e->driver : NULL;
}

const struct egress_filter *container_driver_filter(const struct container_driver *d)
{
	static const struct egress_filter none;

	return d->settings.filter ? d->settings.filter : &none;
}

int container_driver_open_for(const char *home, const struct container_options *options,
	const struct container_settings *settings, struct runtime *runtime, struct executor **ret,
	struct error *err)
{
	struct container_driver *d = mem_alloc(sizeof(*d));

	d->settings = *settings;
	d->runtime = *runtime;
	*runtime = RUNTIME_INIT;
	container_options_init(&d->options);
	if (container_options_normalize(options, &d->options, err) < 0) {
		driver_free(d);
		return -1;
	}
	d->home = home ? mem_strdup(home) : NULL;
	*ret = executor_new(&container_ops, d->options.id, d);
	return 0;
}

int container_driver_open(const char *home, const struct container_options *options,
	const struct container_settings *settings, struct executor **ret, struct error *err)
{
	AUTO(runtime) runtime = RUNTIME_INIT;
	AUTO(container_options) normal;

	container_options_init(&normal);
	if (container_options_normalize(options, &normal, err) < 0 ||
		runtime_detect(normal.runtime, home, &runtime, err) < 0 ||
		runtime_resolve_endpoint(&runtime, err) < 0)
		return -1;
	return container_driver_open_for(home, options, settings, &runtime, ret, err);
}

/*
 * What §20 claims, less what this version does not do yet: a wish that cannot be honoured is
 * refused at the gate with its constraint, never ignored.
 */
void container_driver_capabilities(const struct executor *e, struct candidate *ret)
{
	const struct container_driver *d = container_driver_of(e);
	struct capability_facts facts = {
		.euid = geteuid(),
		.nft = nft_call_program() != NULL && nft_call_permitted(),
		.filter = container_driver_filter(d)->enabled,
		.ip = ip_program_ip() != NULL,
		.nsenter = ip_program_nsenter() != NULL,
		.cgroup_version = cgroup_version(),
		.delegated = cgroup_limits_delegated(),
	};
	struct container_capabilities c = capabilities_of(&d->options, &d->runtime, &facts);

	/* A test: what the kernel holds is found out by the supervisor. */
	if (fault_hit("limits:believed"))
		c.resource_limits = true;
	ret->platform = TEXT("linux");
	ret->isolation = c.virtualized ? TEXT("vm") : TEXT("container");
	ret->virtualized = c.virtualized;
	ret->kernel_isolated = c.kernel_isolated;
	ret->resource_limits = c.resource_limits;
	ret->pids_limit = c.resource_limits;
	ret->network_off = TEXT("enforced");
	ret->network_egress = c.network_egress;
	ret->filtered_egress = c.filtered_egress;
	ret->egress_scope = c.egress_scope;
	ret->disk_enforcement = TEXT("sampled");
	ret->stream = ret->signal = ret->attach = ret->shares_host_filesystem = true;
	ret->image_override = ret->sandbox_mounts = ret->host_mounts = true;
	ret->secret_files = ret->revocation = true;
	ret->devices = c.devices;
	ret->interfaces = c.interfaces == INTERFACES_POSSIBLE;
	if (!ret->interfaces)
		ret->interfaces_reason = text_of(capabilities_reason_text(c.interfaces));
	/* docker's builder has no runtime of its own: what is to run isolated would be built
	 * outside. */
	ret->sandbox_build = d->runtime.engine == ENGINE_PODMAN || !c.kernel_isolated;
	ret->gated = c.gated;
}
