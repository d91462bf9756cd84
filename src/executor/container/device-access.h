/* Whether a workload could open a device node, by its mode bits (container-driver.md §17.1). Pure.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

enum { DEVICE_ACCESS_GROUPS_MAX = 64 };

/* As /proc/PID/status tells it, in numbers of the host. */
struct device_access_who {
	uid_t uid;
	gid_t groups[DEVICE_ACCESS_GROUPS_MAX + 1]; /* the first is its own */
	size_t n_groups;
};
/* False: the text has no Uid, Gid or Groups of the form, or more groups than are kept. */
bool device_access_read(struct text status, struct device_access_who *ret);

struct device_access_node {
	mode_t mode;
	uid_t uid;
	gid_t gid;
};
/* Reading, and writing too if the mode that is delivered ("rw", "rwm") has it. No capabilities. */
bool device_access_allows(const struct device_access_node *n, const struct device_access_who *who,
	const char *delivered);
