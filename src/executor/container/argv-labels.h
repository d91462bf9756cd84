/*
 * Labels of a run's container (container-driver.md §8.5).
 */
#pragma once

#include "base/strv.h"
#include "executor/container/options.h"
#include "executor/container/request.h"

/*
 * Appends `--label=KEY=VALUE` for all of them, sorted by the bytes of the key. Errors:
 * labels_too_many, label_collision.
 */
must_check int argv_labels(const struct container_options *options,
	const struct container_request *request, const struct request_host *host, struct strv *ret,
	struct error *err);
