/* The host's device nodes in a run, judged before its first instruction (container-driver.md
 * §17.1). */
#pragma once

#include "base/error.h"

struct supervisor;

/* Here: every node is the one that was leased. -1: device_changed. */
must_check int devices_check_host(struct supervisor *s, struct error *err);
/*
 * Inside, below the init's root: the node is there, is the same, and its mode lets the workload
 * open it as promised. -1: device_changed, device_inaccessible.
 */
must_check int devices_check_inside(struct supervisor *s, struct error *err);
