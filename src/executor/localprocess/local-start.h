/* The start operation of the localprocess driver. */
#pragma once

#include "executor/executor.h"

/* executor_unsupported for what a host process cannot have; else as executor_ops.start. */
must_check int local_start(const struct executor *e, const struct executor_start *start,
	char ret_handle[EXECUTOR_HANDLE_SIZE], struct error *err);
