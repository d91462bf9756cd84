/* A mount source that is missing (container-driver.md §7.1-§7.3). Internal header of this folder.
 */
#pragma once

#include "base/error.h"

/*
 * mkdir -p below the workspace (a descriptor) without following a link; *ret_fd is the last
 * component, O_PATH. What is made is the workspace's owner's; the folder of hooks is that of the
 * owner of .git (§7.2). Errors: mount_changed, mount_source_unreadable, io.
 */
must_check int make_source(int workspace, const char *relative, int *ret_fd, struct error *err);
