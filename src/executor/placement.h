/*
 * Choosing an executor for a workload that is bound to none (sandbox-spec.md §12.3). Pure: the same
 * input gives the same answer in any order of the candidates, which are left alone.
 */
#pragma once

#include "executor/check.h"

/*
 * 0 and the best candidate that passes every check, or -1 no_placement with the details
 * `constraint`, `considered` and `rejections` [{executor_id, constraint, detail}], sorted by id.
 * No requirement is ever dropped, nothing falls back to the host.
 */
must_check int placement_choose(const struct check_policy *policy, const struct candidate *c,
	size_t n, const struct requirement *need, const struct candidate **ret, struct error *err);
/* [{executor_id, constraint, detail}] of those that do not take the workload, sorted by id. */
must_check json_t *placement_rejections(const struct check_policy *policy,
	const struct candidate *c, size_t n, const struct requirement *need);
