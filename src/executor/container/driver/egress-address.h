/*
 * Where the proxy of a run listens on a network that is the executor's own (network.md §12.2): its
 * gateway; of a rootless engine the host's address that has the default route.
 */
#pragma once

#include "executor/container/driver/driver.h"

/*
 * ADDRESS, the caller's. -1: sandbox_egress_unavailable, no route. `env` is the engine client's.
 */
must_check int egress_address_find(const struct container_driver *driver, const struct strv *env,
	char **ret, struct error *err);
