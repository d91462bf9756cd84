/* What of this host decides whether sandboxes can be made (container-driver.md §19.1, config.md
 * §3). */
#pragma once

#include <stdbool.h>

/* This user has ranges in /etc/subuid and /etc/subgid, and there is newuidmap. */
bool host_facts_subids(void);
/* SELinux is there and enforces. */
bool host_facts_selinux(void);
