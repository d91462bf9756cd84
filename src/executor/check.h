/*
 * The checks of one executor against what a workload needs (sandbox-spec.md §12.2), in order; the
 * first failure is its rejection. Pure; safe to call from several threads.
 */
#pragma once

#include <stdbool.h>

#include "executor/candidate.h"
#include "executor/constraint.h"
#include "spec/requirement.h"

/* The operator's policy (§12.1). */
struct check_policy {
	bool host_execution;         /* executors.allow_host_process */
	struct text min_agent_build; /* empty = none; what is no build refuses every agent */
};

enum check_scope {
	CHECK_EVERYTHING,
	CHECK_ABILITY, /* without the rows about the moment: executor_id, health, memory, capacity
			*/
};

enum { CHECK_DETAIL_MAX = 512 };

struct rejection {
	enum constraint constraint;
	char detail[CHECK_DETAIL_MAX + 1]; /* never empty */
};

/* 0 = takes it, 1 = does not, *ret filled. */
must_check int check_candidate(const struct check_policy *policy, const struct candidate *c,
	const struct requirement *need, enum check_scope scope, struct rejection *ret);
