#include "executor/container/driver/driver.h"

#include <string.h>

#include "base/mem.h"
#include "executor/container/capabilities.h"
#include "executor/container/detect.h"
#include "executor/container/driver/shim.h"
#include "executor/rundir/control.h"
#include "executor/rundir/record.h"
#include "sys/cgroup.h"
#include "sys/clock.h"

enum { CONTROL_TIMEOUT_MS = 10000 };

static void driver_free(void *data)
{
	struct container_driver *d = data;

	container_options_done(&d->options);
	runtime_done(&d->runtime);
	free(d->home);
	free(d);
}

static int driver_status(const struct executor *e, const char *home, const char *handle,
	json_t **ret, struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	(void)e;
	if (home_open(home, &h, err) < 0 || rundir_open(&h, handle, &run, err) < 0)
		return -1;
	*ret = rundir_read(&run, RECORD_FILE, err);
	return *ret ? 0 : -1;
}

static bool has_ended(const struct executor *e, const char *home, const char *handle)
{
	auto_error struct error err = ERROR_INIT;
	auto_json *record = NULL;

	return driver_status(e, home, handle, &record, &err) == 0 && record_final(record);
}

/* A request to the supervisor; an ended run is done already. */
static int tell(const struct executor *e, const char *home, const char *handle,
	const json_t *request, int64_t timeout_ms, struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(rundir) run = RUNDIR_INIT;

	if (home_open(home, &h, err) < 0 || rundir_open(&h, handle, &run, err) < 0)
		return -1;
	if (has_ended(e, home, handle))
		return 0;
	if (control_call(&h, handle, request, timeout_ms, NULL, err) == 0)
		return 0;
	return has_ended(e, home, handle) ? 0 : -1;
}

static int driver_signal(const struct executor *e, const char *home, const char *handle,
	enum executor_signal signal, struct error *err)
{
	auto_json *request =
		json_pack("{s:s, s:s}", "op", "signal", "signal", executor_signal_text(signal));

	return tell(e, home, handle, request, CONTROL_TIMEOUT_MS, err);
}

static int driver_stop(const struct executor *e, const char *home, const char *handle,
	const struct executor_stop *how, struct error *err)
{
	auto_json *request =
		json_pack("{s:s, s:I}", "op", "stop", "grace_ms", (json_int_t)how->grace_ms);

	return tell(e, home, handle, request, 0, err);
}

static int driver_handles(
	const struct executor *e, const char *home, struct strv *ret, struct error *err)
{
	AUTO(home) h = HOME_INIT;
	AUTO(strv) all = STRV_INIT(100000);

	if (home_open(home, &h, err) < 0 || rundir_list(&h, &all, err) < 0)
		return -1;
	strv_foreach (handle, &all) {
		auto_error struct error ignored = ERROR_INIT;
		auto_json *record = NULL;
		if (driver_status(e, home, *handle, &record, &ignored) < 0)
			continue;
		const char *id = json_get_string(record, "executor_id");
		if (id && strcmp(id, e->id) == 0 && strv_add(ret, *handle) < 0)
			break;
	}
	return 0;
}

static int driver_health_check(const struct executor *e, struct error *err)
{
	const struct container_driver *d = container_driver_of(e);
	AUTO(strv) env = STRV_INIT(64);
	AUTO(captured) answer = {.status = 0};
	const char *args[] = {"info", "--format={{json .}}", NULL};
	struct client_call call = {.runtime = &d->runtime,
		.env = &env,
		.args = args,
		.timeout_ms = 20000,
		.stdout_max = 1 << 20,
		.cancel_fd = -1};
	auto_free char *home = mem_strdup(d->home ? d->home : "/nonexistent");

	environment_client(d->runtime.engine, environ, d->runtime.endpoint, home, &env);
	int r = client_run(&call, &answer, err);
	if (r == 1)
		return client_explain(&call, &answer, "", err);
	if (r == 0 && d->runtime.engine == ENGINE_DOCKER)
		return detect_check_docker_info(
			(struct text){str_text(&answer.out), answer.out.len}, err);
	return r;
}

static const struct executor_ops container_ops = {
	.kind = "container",
	.capabilities = container_driver_capabilities,
	.health_check = driver_health_check,
	.start = container_driver_start,
	.signal = driver_signal,
	.stop = driver_stop,
	.status = driver_status,
	.handles = driver_handles,
	.preflight = container_driver_preflight,
	.smoke_test = container_driver_smoke_test,
	.reap_orphans = container_driver_reap,
	.free = driver_free,
};

struct container_driver *container_driver_of(const struct executor *e)
{
	return e->ops == &container_ops ? e->driver : NULL;
}

int container_driver_open(const char *home, const struct container_options *options,
	struct executor **ret, struct error *err)
{
	struct container_driver *d = mem_alloc(sizeof(*d));

	d->runtime = RUNTIME_INIT;
	container_options_init(&d->options);
	if (container_options_normalize(options, &d->options, err) < 0 ||
		runtime_detect(d->options.runtime, home, &d->runtime, err) < 0 ||
		runtime_resolve_endpoint(&d->runtime, err) < 0) {
		driver_free(d);
		return -1;
	}
	d->home = home ? mem_strdup(home) : NULL;
	*ret = executor_new(&container_ops, d->options.id, d);
	return 0;
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
		.cgroup_version = cgroup_version(),
		.delegated = cgroup_delegated(CGROUP_CPU) && cgroup_delegated(CGROUP_MEMORY) &&
			     cgroup_delegated(CGROUP_PIDS),
	};
	struct container_capabilities c = capabilities_of(&d->options, &d->runtime, &facts);

	ret->platform = TEXT("linux");
	ret->isolation = c.virtualized ? TEXT("vm") : TEXT("container");
	ret->virtualized = c.virtualized;
	ret->kernel_isolated = c.kernel_isolated;
	ret->resource_limits = c.resource_limits;
	ret->pids_limit = c.resource_limits;
	ret->network_off = TEXT("enforced");
	ret->network_egress = c.network_egress;
	ret->stream = ret->signal = ret->shares_host_filesystem = true;
	ret->image_override = ret->sandbox_mounts = true;
	ret->gated = c.gated;
}
