/* Which of the granted variables reach the workload (sandbox-spec.md §9.3). Pure. */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "spec/spec.h"

/*
 * Does an entry NAME=VALUE of the list that the hub built stay? Without `env` everything does; with
 * it, an entry that has a name which is listed. It cannot add, set or rename.
 */
bool env_filter_passes(const struct sandbox_spec *spec, struct text entry);
/* The same for a name alone: of grants that deliver files. */
bool env_filter_passes_name(const struct sandbox_spec *spec, struct text name);
