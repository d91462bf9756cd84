#include "executor/drivers/drivers.h"

#include "executor/container/driver/driver.h"
#include "executor/localprocess/local-driver.h"

/* Adds the driver's executors to r, or nothing when it is switched off. */
typedef int make_fn(
	const struct executor_settings *settings, struct executor_list *r, struct error *err);

static int make_container(
	const struct executor_settings *settings, struct executor_list *r, struct error *err)
{
	struct container_settings container = {
		.filter = settings->filter,
		.policy = settings->image_policy,
		.provenance = settings->provenance,
		.derived_image_days = settings->derived_image_days,
		.egress_enabled = settings->egress_enabled,
	};
	auto_error struct error reason = ERROR_INIT;
	struct executor *e = NULL;

	if (!settings->container)
		return 0;
	if (container_driver_open(settings->home, settings->container, &container, &e, &reason) < 0)
		e = executor_new_unavailable("container", settings->container->id, &reason);
	return executor_list_add(r, e, err);
}

static int make_localprocess(
	const struct executor_settings *settings, struct executor_list *r, struct error *err)
{
	if (!settings->allow_host_process)
		return 0;
	return executor_list_add(r, local_driver_new(settings->home), err);
}

static make_fn *const drivers[] = {
	make_container,
	make_localprocess,
};

int drivers_open(
	const struct executor_settings *settings, struct executor_list *ret, struct error *err)
{
	AUTO(executor_list) r = {0};

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (drivers[i](settings, &r, err) < 0)
			return -1;
	*ret = r;
	r = (struct executor_list){0};
	return 0;
}

bool drivers_off(const char *id, struct candidate *ret)
{
	if (strcmp(id, LOCAL_DRIVER_ID) != 0)
		return false;
	local_driver_capabilities(ret);
	return true;
}
