/*
 * Whether programs of the executor's image can run on this machine. The smoke test runs cloop's own
 * static program, so it would pass with an image of any other (container-driver.md §19.2, §25.18).
 */
#pragma once

#include "executor/container/driver/driver.h"

/*
 * command_not_executable for an image of another architecture that the kernel does not emulate. 0
 * also for one that is not there: a start says so.
 */
must_check int image_platform_check(
	const struct container_driver *d, const char *home, struct error *err);
