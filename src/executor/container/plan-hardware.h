/*
 * The host's devices and interfaces that a run gets, as request.json says it (container-driver.md
 * §17). Part of the plan (plan.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/json.h"

enum { PLAN_DEVICES_MAX = 16, PLAN_INTERFACES_MAX = 8 };

struct plan_device {
	char *name;
	char *source, *target; /* below /dev; outside and inside */
	char *mode;            /* "r", "rw", "rwm" */
	bool block;            /* type and number of the node as the lease saw it */
	dev_t rdev;
};

struct plan_interface {
	char *name;
	char *source, *target;   /* names of the kernel; outside and inside */
	char *address, *gateway; /* "" = none */
	int64_t mtu;             /* 0 = as it is */
};

struct plan_hardware {
	struct plan_device devices[PLAN_DEVICES_MAX];
	size_t n_devices;
	struct plan_interface interfaces[PLAN_INTERFACES_MAX];
	size_t n_interfaces;
};
void plan_hardware_done(struct plan_hardware *h);

/* Each copies; -1: the list is full. */
must_check int plan_hardware_add_device(struct plan_hardware *h, const struct plan_device *d);
must_check int plan_hardware_add_interface(struct plan_hardware *h, const struct plan_interface *i);

/* {"devices": […], "interfaces": […]} */
must_check json_t *plan_hardware_to_json(const struct plan_hardware *h);
/* null and NULL: none. -1: not of the form. */
must_check int plan_hardware_from_json(const json_t *j, struct plan_hardware *ret);
