/* Does the host use a block device (disk-and-secrets.md §16.1)? */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * It, or a partition of it, is mounted, swapped to, or held by another device. `root`: directory
 * with proc and sys ("/" of the host). What cannot be read counts as used.
 */
bool device_use_block(int root, dev_t device);
