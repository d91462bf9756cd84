/* Between the file-*.c; for tests too. */
#pragma once

#include <sys/types.h>

#include "base/cleanup.h"

/* The fallback of file_open_at() for FILE_BENEATH|FILE_NO_SYMLINKS. */
must_check int file_open_by_component(int dir, const char *path, int flags, mode_t mode);
