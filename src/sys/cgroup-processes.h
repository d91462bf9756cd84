/* Who is in a control group. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"

/*
 * Processes of the group whose directory is open as `dir` (-1: none) and of all groups below it:
 * *ret_n of them, at most max, in ret. They may end meanwhile. 0; 1: there are more, or groups lie
 * too deep; -1 with errno: a group cannot be read. A group that vanishes is empty.
 */
must_check int cgroup_processes(int dir, pid_t *ret, size_t max, size_t *ret_n);
