/* Where the groups of a process are mounted, from the texts of /proc. Pure. */
#pragma once

#include "base/text.h"
#include "sys/cgroup.h"

/*
 * From /proc/PID/cgroup and our /proc/self/mountinfo: fills version, paths and mounts of *ret (a
 * CGROUP_INIT) and returns the version: 1 where a v1 mount has cpu, memory or pids, else 2, else 0.
 * A group that no mount shows (outside our cgroup namespace, or beside the bind-mounted part) is
 * none. Of several mounts the one that shows the most ancestors is taken.
 */
int cgroup_locate(struct text groups, struct text mountinfo, struct cgroup *ret);
/* 1 where a v1 mount has cpu, memory or pids; else 2 where cgroup2 is mounted; else 0. */
int cgroup_locate_version(struct text mountinfo);
/* Word of a controller in v1 (`cpuacct`) and v2 (`cpu` for that). */
const char *cgroup_locate_word(enum cgroup_controller c, int version);
/* The number behind `key ` in lines of "key number"; with key NULL the whole text. -1 = none. */
int64_t cgroup_locate_number(struct text content, const char *key);
