/* Free space of a filesystem. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * MB free for ordinary users on the filesystem of fd (O_PATH is enough), rounded down; -1 with
 * errno.
 */
int64_t free_space_mb(int fd);
/*
 * Whether the kernel knows that by itself, and never asks a server or a program for it. One that is
 * not known counts as one that asks.
 */
bool free_space_local(int fd);
