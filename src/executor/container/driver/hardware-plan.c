#include "executor/container/driver/hardware-plan.h"

#include <assert.h>

#include "base/mem.h"
#include "executor/container/request.h"
#include "executor/executor.h"
#include "vault/material.h"

static_assert((int)MATERIAL_DEVICES_MAX <= (int)PLAN_DEVICES_MAX &&
		      (int)MATERIAL_INTERFACES_MAX <= (int)PLAN_INTERFACES_MAX,
	"what the vault makes fits into a plan");

static const struct material_device *find_device(const struct material *m, struct text name)
{
	for (size_t i = 0; m && i < m->n_devices; i++)
		if (text_is(name, m->devices[i].name))
			return &m->devices[i];
	return NULL;
}

static char *copy(struct text t)
{
	return mem_strndup(t.p ? t.p : "", t.len);
}

/* The lease's word on the node; the request's on what becomes of it. */
static int add_device(const struct material *m, const struct request_device *r,
	struct plan_hardware *ret, struct error *err)
{
	const struct material_device *leased = find_device(m, r->name);
	auto_free char *name = copy(r->name);
	auto_free char *source = copy(r->source);
	auto_free char *target = copy(r->target.len ? r->target : r->source);
	auto_free char *mode = copy(r->permissions.len ? r->permissions : TEXT("r"));

	if (!leased)
		return error_set(
			err, ERROR_INTERNAL, "device %s is not of the lease", quoted(r->name));
	return plan_hardware_add_device(ret,
		&(struct plan_device){name, source, target, mode, leased->block, leased->rdev});
}

static int add_interface(const struct request_interface *r, struct plan_hardware *ret)
{
	auto_free char *name = copy(r->name);
	auto_free char *source = copy(r->source);
	auto_free char *target = copy(r->target.len ? r->target : r->source);
	auto_free char *address = copy(r->address);
	auto_free char *gateway = copy(r->gateway);

	return plan_hardware_add_interface(
		ret, &(struct plan_interface){name, source, target, address, gateway, r->mtu});
}

int hardware_plan_fill(
	const struct executor_start *start, struct plan_hardware *ret, struct error *err)
{
	const struct container_request *r = start->request;

	for (size_t i = 0; i < r->n_devices; i++)
		if (add_device(start->material, &r->devices[i], ret, err) < 0)
			return -1;
	for (size_t i = 0; i < r->n_interfaces; i++)
		if (add_interface(&r->interfaces[i], ret) < 0)
			return error_set(err, ERROR_INTERFACES_TOO_MANY,
				"%zu interfaces are more than a plan can hold", r->n_interfaces);
	return 0;
}
