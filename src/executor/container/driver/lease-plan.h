/*
 * What a run's lease brings, split in two (container-driver.md §9.1): names for the plan, which is
 * written to request.json, and values for the supervisor, which never are.
 */
#pragma once

#include "executor/container/launch.h"
#include "executor/container/plan.h"

struct material;

/* It can be delivered: §5.13. m may be NULL, here and below: the run has no lease. */
must_check int lease_plan_check(const struct material *m, struct error *err);
/* It has files, so that the run needs a stage. */
bool lease_plan_has_files(const struct material *m);
/* Names, modes and bindings; names of sensitive variables join plan->redact. stage: NULL = none. */
must_check int lease_plan_fill(
	const struct material *m, const char *stage, struct plan *plan, struct error *err);
/* Sizes into the launch block; a sealed memfd with the contents, -1 + err. */
must_check int lease_plan_contents(
	const struct material *m, struct launch *launch, struct error *err);
