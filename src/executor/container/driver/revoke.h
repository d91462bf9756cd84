/* Taking a lease back from a run, whoever supervises it (disk-and-secrets.md §18). */
#pragma once

#include "executor/executor.h"

/*
 * executor.h's revoke_lease: request {lease, grant?, action, reason?, wait_ms?}; *ret {outcome:
 * done | failed | unreachable, held, effect, files, sessions, reason?, remediation?}, of which only
 * outcome and reason are there when the run has ended or cannot be reached. A run without a
 * supervisor gets one first; one that has ended is done once its stage is wiped and its container
 * gone. Blocks until it is done, two and a half minutes at most, or wait_ms: who has not answered
 * then is unreachable. Errors: lease_missing, handle_invalid, handle_not_found.
 */
must_check int container_driver_revoke(const struct executor *e, const char *home,
	const char *handle, const json_t *request, json_t **ret, struct error *err);
