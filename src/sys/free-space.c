#include "sys/free-space.h"

#include <linux/magic.h>
#include <stddef.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#define XFS_MAGIC 0x58465342

int64_t free_space_mb(int fd)
{
	struct statvfs st;

	if (fstatvfs(fd, &st) < 0)
		return -1;
	/* In double: the product of two numbers of the filesystem's may not fit. */
	double mb = (double)st.f_bavail * (double)st.f_frsize / (1 << 20);
	return mb < (double)(INT64_MAX / 2) ? (int64_t)mb : INT64_MAX / 2;
}

bool free_space_local(int fd)
{
	static const unsigned long local[] = {EXT4_SUPER_MAGIC, XFS_MAGIC, BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, RAMFS_MAGIC};
	struct statfs st;

	if (fstatfs(fd, &st) < 0)
		return false;
	for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++)
		if ((unsigned long)st.f_type == local[i])
			return true;
	return false;
}
