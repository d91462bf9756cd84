/* The egress filter as config.yaml has it (network.md §4): its own rules, and the struct of net. */
#pragma once

#include "config/values.h"
#include "net/egress-filter.h"

/* Rules across the keys of the section: those of net/egress-policy.h, reported at their keys. */
void filter_check(struct schema_bind *b, const struct schema_section *s, void *out);
/* Copies; *ret is the caller's (egress_filter_done). */
void filter_copy(const struct values_filter *from, struct egress_filter *ret);
