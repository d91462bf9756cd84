/* For tests after which no descriptor may be left: set up and torn down by these. */
#pragma once

#include "unit/unit.h"

static size_t unit_fds_before;

static inline size_t unit_fds_count(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static inline int unit_fds_note(void **state)
{
	(void)state;
	unit_fds_before = unit_fds_count();
	return 0;
}

static inline int unit_fds_check(void **state)
{
	(void)state;
	return unit_fds_count() == unit_fds_before ? 0 : -1;
}
