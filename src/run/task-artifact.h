/* Writing the artifact of a task whose run is over (run/artifact.h). */
#pragma once

#include "executor/rundir/rundir.h"
#include "run/final-record.h"
#include "store/store.h"

/*
 * Of the task that the run was for, unless another attempt began since. A failure is a row of the
 * journal: the workload owns the place and may have put anything there.
 */
void task_artifact_write(struct store *s, const struct rundir *run, const json_t *record,
	const struct final_record *f);
