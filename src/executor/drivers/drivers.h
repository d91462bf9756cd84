/* Which drivers exist: a table. Another driver is a folder and one row (ARCHITECTURE.md §4). */
#pragma once

#include "executor/executor-list.h"

/*
 * Makes every configured executor. One that cannot be made (no engine) is listed as unavailable
 * with its reason; it is no error here, and nothing takes its place.
 */
must_check int drivers_open(
	const struct executor_settings *settings, struct executor_list *ret, struct error *err);

/*
 * An executor of this id that exists wherever the operator switches it on, and what it would
 * advertise; false: there is none. Asked about an id that drivers_open() did not make.
 */
bool drivers_off(const char *id, struct candidate *ret);
