/*
 * The gate of a project that is bound to one executor (sandbox-spec.md §13): the checks about
 * ability, all or nothing. Pure.
 */
#pragma once

#include "executor/check.h"

struct gate {
	const struct check_policy *policy;
	const struct requirement *need;
	const struct candidate *bound;
	const struct candidate *registered; /* may hold `bound` too */
	size_t n_registered;
};

/*
 * 0: the executor can do all of it; *ret_network_off_unproven tells whether the warning of that
 * name is due. -1: host_execution_denied or sandbox_unsupported, with the details `constraint` and
 * `alternatives`: ids among `registered` that isolate and pass the same gate, sorted.
 */
must_check int gate_check(const struct gate *g, bool *ret_network_off_unproven, struct error *err);
