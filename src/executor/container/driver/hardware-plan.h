/* The devices and interfaces of a request, as its supervisor gets them (container-driver.md §17).
 */
#pragma once

#include "base/error.h"
#include "executor/container/plan-hardware.h"

struct executor_start;

/* -1: internal, a device of the request is none of the lease's. */
must_check int hardware_plan_fill(
	const struct executor_start *start, struct plan_hardware *ret, struct error *err);
