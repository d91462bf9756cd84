/* Mount points below a directory, from a text of /proc/PID/mountinfo (disk-and-secrets.md §4.3).
 * Pure; text of any bytes is judged. */
#pragma once

#include "base/strv.h"
#include "base/text.h"

enum { WALK_MOUNTS_MAX = 65536 };

/* Field 5 without its escapes: \040 \011 \012 \134, and nothing else. Caller frees. */
must_check char *walk_mounts_unescape(struct text field);
/*
 * Clean paths strictly below `root` (absolute), sorted by bytes. Lines with fewer than 5 fields are
 * ignored. -1: more than the list holds.
 */
must_check int walk_mounts_below(struct text mountinfo, struct text root, struct strv *ret);
