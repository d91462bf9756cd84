/* Egress filters between the library's callers and the tree (include/cloop/egress.h). */
#pragma once

#include "base/error.h"
#include "cloop/egress.h"
#include "net/egress-filter.h"

/* Copies; egress_too_many for a list that no rule could take. *ret is the caller's in any case. */
must_check int lib_egress_read(
	const struct cloop_egress_filter *in, struct egress_filter *ret, struct error *err);
/*
 * Puts the key at fault, which is a detail of errors of a filter, before the message, and before
 * that `who` applies it; NULL: it is only compiled. Answers -1.
 */
int lib_egress_explain(const char *who, struct error *err);
