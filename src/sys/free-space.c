#include "sys/free-space.h"

#include <sys/statvfs.h>

int64_t free_space_mb(int fd)
{
	struct statvfs st;

	if (fstatvfs(fd, &st) < 0)
		return -1;
	/* In double: the product of two numbers of the filesystem's may not fit. */
	double mb = (double)st.f_bavail * (double)st.f_frsize / (1 << 20);
	return mb < (double)(INT64_MAX / 2) ? (int64_t)mb : INT64_MAX / 2;
}
