/*
 * request.json and the launch block: what is read is written to something that reads the same, and
 * a plan that is taken has what a supervisor relies on.
 */
#include <assert.h>
#include <string.h>

#include "executor/container/launch.h"
#include "executor/container/plan.h"
#include "json-mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plan(json_t *object)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(plan) p = PLAN_INIT;
	AUTO(plan) q = PLAN_INIT;

	if (plan_from_json(object, &p, &err) < 0)
		return;
	assert(p.handle && p.container_name && p.guest && p.hosts && p.runtime.path);
	assert(p.n_mounts >= 1 && p.n_mounts <= PLAN_MOUNTS_MAX);
	auto_json *first = plan_to_json(&p);
	int r = plan_from_json(first, &q, &err);
	assert(first && r == 0 && q.n_mounts == p.n_mounts);
	assert(q.hardware.n_devices == p.hardware.n_devices);
	assert(q.hardware.n_interfaces == p.hardware.n_interfaces);
	assert(q.lease.n_files == p.lease.n_files && q.lease.n_bindings == p.lease.n_bindings);
	for (size_t i = 0; i < p.hardware.n_devices; i++)
		assert(q.hardware.devices[i].rdev == p.hardware.devices[i].rdev);
	auto_json *second = plan_to_json(&q);
	assert(json_equal(first, second));
}

static void check_launch(struct text bytes)
{
	auto_error struct error err = ERROR_INIT;
	AUTO(launch) l = LAUNCH_INIT;
	AUTO(launch) m = LAUNCH_INIT;
	AUTO(secret) block = {.p = NULL};
	AUTO(secret) first = {.p = NULL};
	AUTO(secret) second = {.p = NULL};

	SECRET_CONCAT(&block, bytes);
	if (launch_read(&block, &l, &err) < 0)
		return;
	launch_write(&l, &first);
	SECRET_CONCAT(&block, secret_text(&first));
	int r = launch_read(&block, &m, &err);
	assert(r == 0);
	launch_write(&m, &second);
	assert(text_equal(secret_text(&first), secret_text(&second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_error struct error err = ERROR_INIT;
	struct text bytes = {(const char *)data, size};
	auto_json *object = json_read(bytes, 1 << 20, "input", ERROR_IO, &err);

	if (object)
		check_plan(object);
	else
		check_launch(bytes);
	return 0;
}
