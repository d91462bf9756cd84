/*
 * Taking a lease back from a live run (container-driver.md §15.4). Its files are wiped while the
 * workload runs on; what a variable or a device gave cannot be taken back, so then the container is
 * removed: as long as it exists, the engine tells its environment.
 */
#pragma once

#include "base/error.h"
#include "base/json.h"

struct supervisor;

/*
 * The operation `revoke` of the control socket: {lease, grant?, action, reason?}. 0: done, *ret is
 * the answer {outcome: done|failed, held, effect, files, sessions, reason?}; 1: the same, with
 * outcome and reason to follow by revoke_settle(). Error `lease_missing`.
 */
int revoke_run(void *data, const json_t *request, json_t **ret, struct error *err);
/* The same for a grant of which the control plane says that it is revoked; nobody is answered. */
void revoke_grant(struct supervisor *s, const char *grant);
/* Whoever waits gets the outcome: "done", "failed", "unreachable". reason: NULL = none. */
void revoke_settle(struct supervisor *s, const char *outcome, const char *reason);
