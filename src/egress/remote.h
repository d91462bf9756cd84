/*
 * Where executors on other machines reach the proxy (network.md §12.2): `listen_addr` and
 * `advertise_addr` of `executors.egress`. Pure.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

/*
 * ADDRESS:PORT or [IPV6]:PORT of this host: no name, and neither loopback nor all addresses. -1:
 * egress_listen_invalid.
 */
must_check int remote_check_listen(struct text t, struct error *err);
/*
 * HOST[:PORT] or [IPV6][:PORT] that another machine can dial: no name that means the dialling
 * machine or something inside a cluster, no loopback, unspecified or link-local address. -1:
 * egress_advertise_invalid.
 */
must_check int remote_check_advertise(struct text t, struct error *err);
