/* The operator's proxy: which hosts are asked without it (image-trust.md §6). Pure. */
#pragma once

#include <stdbool.h>

#include "image/registry/url.h"

/*
 * no_proxy: entries between commas or blanks; a name covers itself and what lies below it, with or
 * without a dot in front; an address itself; ADDRESS/BITS a range; `*` everything. An entry with a
 * port holds for that port. A loopback host is never asked through a proxy.
 */
bool proxy_bypassed(const char *no_proxy, const struct url *u);
