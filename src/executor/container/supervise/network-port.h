/*
 * The sandbox's port of its bridge: the end on this host of the pair that the engine made. By
 * netlink, which answers at once.
 */
#pragma once

#include "base/error.h"

struct supervisor;

/* 0: it is gone, and with it the sandbox's interface (also if there was none); -1. */
must_check int network_port_cut(struct supervisor *s, struct error *err);
/* Sandboxes of one bridge reach what is not isolated, and not each other (§9.4). */
must_check int network_port_isolate(struct supervisor *s, struct error *err);
/*
 * The host's address in an internal network. podman 4.3.1 with CNI gives the bridge none; where
 * there is one, nothing changes.
 */
must_check int network_port_address(struct supervisor *s, struct error *err);
