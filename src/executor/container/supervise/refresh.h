/* A new content for a file of the lease that the run has already (container-driver.md §15.5). */
#pragma once

#include "base/error.h"
#include "base/json.h"

enum { REFRESH_BYTES_MAX = 262144 };

/*
 * The operation `refresh` of the control socket: {lease, name, size} and the bytes. They are masked
 * before they can be seen inside. Errors: secret_not_delivered (another lease, a name that the run
 * never had or has no more), secrets_too_large, secret_stage_failed.
 */
int refresh_run(
	void *data, const json_t *request, struct text bytes, json_t **ret, struct error *err);
