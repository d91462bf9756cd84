/* Facts for preflight that no other part of a start needs (container-driver.md §19.1). */
#pragma once

#include "executor/container/driver/driver.h"

/* Somebody may have a device of this host. home: NULL = there is no ledger. */
bool check_facts_devices_granted(const char *home);
/*
 * podman starts sandboxes with a runc older than 1.3.6. info: its answer to `info`; another runtime
 * than its usual one makes it a question of its own, which takes timeout_ms at most.
 */
bool check_facts_old_runc(const struct container_driver *d, const struct strv *env,
	const json_t *info, int64_t timeout_ms);
/* Neither the executor nor a project can name an image that somebody else may replace. */
bool check_facts_images_pinned(const struct container_driver *d);
