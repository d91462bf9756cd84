/* What `cloop doctor` says of the operator's ceilings (sandbox-spec.md §10.3, §10.4). */
#pragma once

#include "executor/container/preflight.h"

struct context;

/*
 * limits: every stored ceiling that is broken, and every one that an executor of this host cannot
 * hold, the fleet's included. Without a home (it cannot be used) only the fleet's.
 */
void doctor_limits(const struct context *c, struct preflight_report *r);
