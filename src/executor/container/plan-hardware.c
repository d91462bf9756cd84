#include "executor/container/plan-hardware.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base/mem.h"

static void free_all(char *const *strings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(strings[i]);
}
#define FREE_ALL(...) \
	free_all((char *[]){__VA_ARGS__}, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *))

void plan_hardware_done(struct plan_hardware *h)
{
	for (size_t i = 0; i < h->n_devices; i++) {
		struct plan_device *d = &h->devices[i];
		FREE_ALL(d->name, d->source, d->target, d->mode);
	}
	for (size_t i = 0; i < h->n_interfaces; i++) {
		struct plan_interface *f = &h->interfaces[i];
		FREE_ALL(f->name, f->source, f->target, f->address, f->gateway);
	}
	*h = (struct plan_hardware){.n_devices = 0};
}

int plan_hardware_add_device(struct plan_hardware *h, const struct plan_device *d)
{
	if (h->n_devices == PLAN_DEVICES_MAX)
		return -1;
	h->devices[h->n_devices++] = (struct plan_device){
		.name = mem_strdup(d->name),
		.source = mem_strdup(d->source),
		.target = mem_strdup(d->target),
		.mode = mem_strdup(d->mode),
		.block = d->block,
		.rdev = d->rdev,
	};
	return 0;
}

int plan_hardware_add_interface(struct plan_hardware *h, const struct plan_interface *i)
{
	if (h->n_interfaces == PLAN_INTERFACES_MAX)
		return -1;
	h->interfaces[h->n_interfaces++] = (struct plan_interface){
		.name = mem_strdup(i->name),
		.source = mem_strdup(i->source),
		.target = mem_strdup(i->target),
		.address = mem_strdup(i->address),
		.gateway = mem_strdup(i->gateway),
		.mtu = i->mtu,
	};
	return 0;
}

json_t *plan_hardware_to_json(const struct plan_hardware *h)
{
	json_t *devices = json_array(), *interfaces = json_array();

	for (size_t i = 0; i < h->n_devices; i++) {
		const struct plan_device *d = &h->devices[i];
		json_array_append_new(
			devices, json_pack("{s:o, s:o, s:o, s:o, s:b, s:i, s:i}", "name",
					 json_exact(d->name), "source", json_exact(d->source),
					 "target", json_exact(d->target), "mode",
					 json_exact(d->mode), "block", d->block, "major",
					 (int)major(d->rdev), "minor", (int)minor(d->rdev)));
	}
	for (size_t i = 0; i < h->n_interfaces; i++) {
		const struct plan_interface *f = &h->interfaces[i];
		json_array_append_new(interfaces,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "name", json_exact(f->name),
				"source", json_exact(f->source), "target", json_exact(f->target),
				"address", json_exact(f->address), "gateway",
				json_exact(f->gateway), "mtu", (json_int_t)f->mtu));
	}
	return json_pack("{s:o, s:o}", "devices", devices, "interfaces", interfaces);
}

/* Views: what is added is copied. */
static int device_from_json(const json_t *j, struct plan_hardware *h)
{
	auto_free char *source = json_exact_bytes(json_object_get(j, "source"));
	auto_free char *target = json_exact_bytes(json_object_get(j, "target"));
	auto_free char *name = json_exact_bytes(json_object_get(j, "name"));
	auto_free char *mode = json_exact_bytes(json_object_get(j, "mode"));
	int64_t high = json_get_int(j, "major", -1), low = json_get_int(j, "minor", -1);

	if (!source || !target || !name || !mode || high < 0 || low < 0 || high > INT32_MAX ||
		low > INT32_MAX)
		return -1;
	return plan_hardware_add_device(h,
		&(struct plan_device){name, source, target, mode, json_get_bool(j, "block", false),
			makedev((unsigned)high, (unsigned)low)});
}

static int interface_from_json(const json_t *j, struct plan_hardware *h)
{
	auto_free char *name = json_exact_bytes(json_object_get(j, "name"));
	auto_free char *source = json_exact_bytes(json_object_get(j, "source"));
	auto_free char *target = json_exact_bytes(json_object_get(j, "target"));
	auto_free char *address = json_exact_bytes(json_object_get(j, "address"));
	auto_free char *gateway = json_exact_bytes(json_object_get(j, "gateway"));

	if (!name || !source || !target || !address || !gateway)
		return -1;
	return plan_hardware_add_interface(h, &(struct plan_interface){name, source, target,
						      address, gateway, json_get_int(j, "mtu", 0)});
}

int plan_hardware_from_json(const json_t *j, struct plan_hardware *ret)
{
	const json_t *devices = json_object_get(j, "devices");
	const json_t *interfaces = json_object_get(j, "interfaces");

	if (!j || json_is_null(j))
		return 0;
	if (!json_is_array(devices) || !json_is_array(interfaces))
		return -1;
	for (size_t i = 0; i < json_array_size(devices); i++)
		if (device_from_json(json_array_get(devices, i), ret) < 0)
			return -1;
	for (size_t i = 0; i < json_array_size(interfaces); i++)
		if (interface_from_json(json_array_get(interfaces, i), ret) < 0)
			return -1;
	return 0;
}
