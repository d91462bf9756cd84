/* Forgetting a project (config.md §4). */
#pragma once

#include "base/error.h"

struct store;

/*
 * Drops its rows with its binding and its ceiling, and tells the audit trail what is lifted
 * (executor.bind, limits.clear): all of it or nothing. 0, or 1: there was nothing. Whether it has
 * runs is not looked at.
 */
must_check int forget_project(
	struct store *s, const char *project, const char *actor, struct error *err);
