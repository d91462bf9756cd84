/*
 * Device nodes of this host, found below /dev without a way out of it (disk-and-secrets.md §16.1,
 * container-driver.md §17.1).
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "vault/device-node.h"

struct device_found {
	char *path; /* resolved, below /dev; owned */
	dev_t rdev;
	struct device_node node;
};
void device_found_done(struct device_found *d);

/*
 * Opens `source` (below /dev/) O_PATH beneath /dev, links inside /dev followed, and says what it
 * leads to, with its subsystem and whether the host uses it. -1: device_missing (nothing there),
 * device_outside_dev (it leads out of /dev), device_forbidden (to a name that is never given), io.
 */
must_check int device_open_find(const char *source, struct device_found *ret, struct error *err);
/*
 * A node once more, when a run starts: the path must lead to the same type and number. -1:
 * device_changed.
 */
must_check int device_open_again(const char *path, bool block, dev_t rdev, struct error *err);
