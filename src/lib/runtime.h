/* Engines as the library's callers see them (include/cloop/runtime.h). */
#pragma once

#include "base/error.h"
#include "cloop/runtime.h"
#include "executor/container/runtime.h"

/* Views into `runtime`, which must live longer. */
struct cloop_runtime lib_runtime_show(const struct runtime *runtime);
/*
 * An engine of the caller's description: found nowhere, its path is its name. runtime_unsupported
 * for another name. *ret is the caller's (runtime_done).
 */
must_check int lib_runtime_read(
	const char *name, const char *path, bool rootless, struct runtime *ret, struct error *err);
