/* The parts of compiling that look at the lists (network.md §4.3-§4.5). Pure. */
#pragma once

#include "net/egress-lists.h"
#include "net/egress-policy.h"

/* Appends the rules in their order. */
void egress_rules_build(
	const struct egress_lists *l, bool public_internet, struct egress_policy *p);
/* Appends the warnings in their order; mode and ports of p are set. */
void egress_warnings_build(
	const struct egress_lists *l, bool public_internet, struct egress_policy *p);
