/* Which device nodes may be given (disk-and-secrets.md §16.1). Pure; looking at one: device-open.h.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

enum device_type { DEVICE_OTHER, DEVICE_CHAR, DEVICE_BLOCK };

struct device_node {
	enum device_type type;
	unsigned major, minor;
	char subsystem[32]; /* of sysfs; "" = not known */
	bool in_use;        /* a block device: mounted, swap, or held by another one */
};
/*
 * grant_block: the grant has `block`. Messages name `path`. -1: device_not_a_node,
 * device_block_not_granted, device_in_use, device_forbidden.
 */
must_check int device_node_judge(
	const struct device_node *node, bool grant_block, const char *path, struct error *err);
/*
 * Is it, at this target, a node that every sandbox has anyway, readable and writable (null, zero,
 * full, random, urandom, tty)? Engines let a device that is asked for replace their own: asked for
 * with less, it takes from the sandbox what it has, and without a writable /dev/null runc starts
 * nothing.
 */
bool device_node_standard(const struct device_node *node, struct text target);
