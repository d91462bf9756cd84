/* Members of net cases as the code takes them. */
#pragma once

#include "base/error.h"
#include "net/egress-filter.h"

#include <jansson.h>

/* The keys of network.md §4 and the internal ones; absent ones keep their default. */
void net_json_filter(json_t *object, struct egress_filter *ret);
/* "{error, key}" of an error. */
json_t *net_json_error(const struct error *err);
