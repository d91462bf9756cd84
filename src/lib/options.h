/* Options as the library's callers give them (include/cloop/options.h), as the tree knows them. */
#pragma once

#include "cloop/options.h"
#include "executor/container/options.h"
#include "image/policy.h"
#include "net/egress-filter.h"

struct lib_options {
	struct container_options options; /* normalized */
	struct egress_filter filter;
	struct image_policy policy;
	uint64_t derived_image_days;
	char *home; /* NULL = none was given */
};
void lib_options_done(struct lib_options *o);

/*
 * Checks everything and fills in the defaults. Errors: the first in the order of
 * container-driver.md §3, then option_invalid (a home that is not absolute). *ret may be anything
 * before; it is written on success only.
 */
must_check int lib_options_read(
	const struct cloop_container_options *in, struct lib_options *ret, struct error *err);
