/*
 * What a failed start of the workload's program means (container-driver.md §10.2). Shared by the
 * shim, which makes an error of it, and the init, which makes its exit status of it.
 */
#pragma once

#include "executor/container/init/init-message.h"

enum init_exec_verdict {
	INIT_VERDICT_NOT_FOUND,      /* command_not_found */
	INIT_VERDICT_NOT_EXECUTABLE, /* command_not_executable */
	INIT_VERDICT_EXEC_FAILED,    /* exec_failed */
};

enum init_exec_verdict init_exec_judge(const struct init_failure *f);
/* The error code's text. */
const char *init_exec_code(enum init_exec_verdict v);
/* 127, 126 or 125: the exit status of the init and of `cloop run`. */
int init_exec_exit_status(enum init_exec_verdict v);
