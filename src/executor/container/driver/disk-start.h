/* The disk limit at the start of a run (disk-and-secrets.md §7.1), before anything is provisioned.
 */
#pragma once

#include "executor/container/driver/project.h"
#include "executor/container/plan-disk.h"
#include "executor/executor.h"

/*
 * Measures the workspace and fills *ret; a run without a limit is not measured. -1:
 * workspace_over_disk_limit, or start_cancelled.
 */
must_check int disk_start_check(const struct executor_start *start, const struct project *project,
	struct plan_disk *ret, struct error *err);
