/* Which drivers exist: a table. Another driver is a folder and one row (ARCHITECTURE.md §4). */
#pragma once

#include "executor/executor-list.h"

/*
 * Makes every configured executor. One that cannot be made (no engine) is listed as unavailable
 * with its reason; it is no error here, and nothing takes its place.
 */
must_check int drivers_open(
	const struct executor_settings *settings, struct executor_list *ret, struct error *err);
