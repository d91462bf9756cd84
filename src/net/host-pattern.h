/*
 * Host names and patterns of them (network.md §11.2). A name that some programs would take for an
 * address (2852039166, 0x7f.1, 0177.0.0.1) is refused everywhere. Pure.
 */
#pragma once

#include <stdbool.h>

#include "base/address.h"
#include "base/error.h"
#include "base/text.h"

enum {
	HOST_NAME_MAX_BYTES = 253,
	HOST_PATTERN_SIZE = HOST_NAME_MAX_BYTES + 3, /* with "*." and NUL */
};

/*
 * `*`, `*.NAME`, NAME or an address, folded: trimmed, lower case, without a trailing dot, addresses
 * in their one spelling. -1: egress_host_invalid, out is not written.
 */
must_check int host_pattern_parse(struct text t, char out[HOST_PATTERN_SIZE], struct error *err);

/*
 * A host as an authority has it: an IPv4 address or a name, folded, untrimmed; false: neither.
 */
bool host_pattern_fold_host(struct text t, char out[HOST_PATTERN_SIZE]);

/* Both folded. `*.NAME` is what lies below NAME, at any depth, not NAME. */
bool host_pattern_matches(const char *pattern, const char *host);
