/*
 * The checks of a deployment, for `cloop doctor` (cli.md; image-trust.md §13): the operator's image
 * policy, what it needs on this host and of registries, ceilings, and the executors. Starts no
 * sandbox.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/cleanup.h"

struct doctor_question {
	const char *home; /* cloop's; made if it is missing */
	const char *config_path;
	bool offline; /* no registry is asked */
};

/*
 * {"ok","checks":[{"name","level","message","fix"}]}: images.*, limits, then executor.ID.* for
 * every executor; several findings may share a name; ok: none fails. Whatever goes wrong is a
 * finding. Caller owns it.
 */
must_check json_t *doctor_examine(const struct doctor_question *q);
