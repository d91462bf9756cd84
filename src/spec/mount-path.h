/*
 * The text rules of mount paths (sandbox-spec.md §7.1). Where a source really leads is checked
 * again, on the file system, when a run starts. Pure.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "yaml/problem.h"

enum { MOUNT_PATH_MAX = 4096, MOUNT_PATH_COMPONENT_MAX = 255 };

/* Rules 3-10 of a source: the first that fails, or PROBLEM_NONE. Not empty, not too long. */
enum problem_code mount_path_source_fault(struct text t);
/* Rules 3-10 and 12 of a target. */
enum problem_code mount_path_target_fault(struct text t);

/* Rule 11: `.git` or `.cloop` or below. t is clean. */
bool mount_path_protected(struct text source);
/* A leading /var/run is read as /run. target is absolute and clean; the result lies in it. */
struct text mount_path_canonical(struct text target);
/* Rule 12: a path that the sandbox needs itself. t is absolute and clean. */
bool mount_path_reserved(struct text target);
/* Is `path` strictly below `above`, by components? Both absolute and clean. */
bool mount_path_below(struct text path, struct text above);
/* The clean form of a path without `..`: empty and `.` components left out. */
void mount_path_clean(struct text t, struct str *out);
