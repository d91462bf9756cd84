/* The smoke run of an executor (container-driver.md §19.2): a real run of `cloop version`. */
#pragma once

#include "executor/executor.h"

/*
 * Starts it, waits for its end and puts output, exit_code and duration_ms into result. -1: it could
 * not start, or (init_failed) did not print what the program says.
 */
must_check int smoke_run(const struct executor *e, const struct executor_start *start,
	json_t *result, struct error *err);
