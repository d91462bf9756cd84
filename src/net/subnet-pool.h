/* Where run networks take their subnets (network.md §4). Pure. */
#pragma once

#include "base/error.h"
#include "net/egress-filter.h"

#define SUBNET_POOL_DEFAULT "10.213.0.0/16"
#define SUBNET_POOL6_DEFAULT "fd63:6c6f:6f70::/48"

/*
 * An IPv4 range of /8 to /28 inside private or carrier space, and a private IPv6 /48. -1:
 * egress_pool_invalid with the detail `key`.
 */
must_check int subnet_pool_check(const struct egress_filter *f, struct error *err);
