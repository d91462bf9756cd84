/* What cloop-shim does for a run of the localprocess driver. One run per process. */
#pragma once

/* As supervise_start() and supervise_adopt() of the container driver (supervise.h there). */
int local_supervise_start(const char *home, const char *handle, int lock_fd, int caller_fd);
int local_supervise_adopt(const char *home, const char *handle);
