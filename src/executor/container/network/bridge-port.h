/*
 * The port of a bridge that leads into a sandbox: the host's end of the pair of interfaces that the
 * engine made (network.md §9.4, §10). By netlink: a start on a shared network and a sandbox that is
 * cut off need no program of the host.
 */
#pragma once

#include "base/error.h"

/*
 * Index of the port of that bridge whose other end is in that network namespace (a descriptor);
 * *ret 0: it has none, or there is no such bridge. -1: io.
 */
must_check int bridge_port_find(
	const char *bridge, int namespace, unsigned *ret, struct error *err);
/* It reaches no other port that is isolated, too. -1: io. */
must_check int bridge_port_isolate(unsigned port, struct error *err);
/* Both ends go. A port that is gone already is good. -1: io. */
must_check int bridge_port_delete(unsigned port, struct error *err);
/* Gives the bridge that IPv4 address of the host's, if it has not got it. -1: io. */
must_check int bridge_port_address(
	const char *bridge, const char *address, unsigned bits, struct error *err);
