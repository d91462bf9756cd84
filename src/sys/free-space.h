/* Free space of a filesystem. */
#pragma once

#include <stdint.h>

/*
 * MB free for ordinary users on the filesystem of fd (O_PATH is enough), rounded down; -1 with
 * errno.
 */
int64_t free_space_mb(int fd);
