#include "vault/device-use.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/strv.h"
#include "sys/file.h"
#include "sys/mount-line.h"

enum { TABLE_MAX = 16 << 20, NUMBERS_MAX = 1024, NUMBER_TEXT_MAX = 32 };

/* Numbers are "MAJOR:MINOR", as sysfs and mountinfo write them. */
static int add_number(struct strv *numbers, dev_t device)
{
	return strv_addf(numbers, "%u:%u", major(device), minor(device));
}

static DIR *open_list(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;

	if (!list)
		cleanup_fd(&fd);
	return list;
}

/* Is there a holder of the block device whose sysfs directory this is? */
static bool held(int device)
{
	DIR *list = open_list(device, "holders");
	bool any = !list;

	for (struct dirent *e; !any && (e = readdir(list));)
		any = e->d_name[0] != '.';
	if (list)
		closedir(list);
	return any;
}

/* Takes in a child of a disk's sysfs directory that is a partition; true: the disk is used. */
static bool take_partition(int disk, const char *name, struct strv *numbers)
{
	AUTO(str) number = STR_INIT(NUMBER_TEXT_MAX);
	auto_fd int fd = openat(disk, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || faccessat(fd, "partition", F_OK, 0) < 0)
		return false;
	if (held(fd) || file_read_at(fd, "dev", NUMBER_TEXT_MAX - 1, &number) < 0)
		return true;
	struct text t = text_trim(text_of(str_text(&number)));
	return strv_add_n(numbers, t.p, t.len) < 0;
}

/* The numbers of the device and its partitions; true: it is used, whatever else there is. */
static bool collect(int root, dev_t device, struct strv *numbers)
{
	auto_free char *path = mem_printf("sys/dev/block/%u:%u", major(device), minor(device));
	auto_fd int disk = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = disk >= 0 ? open_list(disk, ".") : NULL;
	bool used = !list || held(disk) || add_number(numbers, device) < 0;

	for (struct dirent *e; !used && (e = readdir(list));)
		used = e->d_name[0] != '.' && take_partition(disk, e->d_name, numbers);
	if (list)
		closedir(list);
	return used;
}

/* Does the path name a block device among them? */
static bool names_one(int root, const char *path, const struct strv *numbers)
{
	struct stat st;
	AUTO(strv) one = STRV_INIT(1);

	while (*path == '/')
		path++;
	if (fstatat(root, path, &st, 0) < 0 || !S_ISBLK(st.st_mode))
		return false;
	return add_number(&one, st.st_rdev) < 0 || strv_has(numbers, one.v[0]);
}

static bool read_table(int root, const char *name, struct str *ret)
{
	*ret = STR_INIT(TABLE_MAX);
	return file_read_at(root, name, TABLE_MAX - 1, ret) == 0;
}

static bool names_escaped(int root, struct text field, const struct strv *numbers)
{
	AUTO(str) path = STR_INIT(field.len);

	if (!text_starts(field, "/"))
		return false;
	mount_line_unescape(&path, field);
	return names_one(root, str_text(&path), numbers);
}

/* By the mount's device, or by its source: btrfs and its like have numbers of their own. */
static bool mounted(int root, const struct strv *numbers)
{
	AUTO(str) table = STR_INIT(TABLE_MAX);
	struct mount_line m;

	if (!read_table(root, "proc/self/mountinfo", &table))
		return true;
	struct text rest = {str_text(&table), table.len};
	while (mount_line_next(&rest, &m)) {
		auto_free char *number = mem_strndup(m.device.p, m.device.len);
		if (strv_has(numbers, number) || names_escaped(root, m.source, numbers))
			return true;
	}
	return false;
}

static bool swapped_to(int root, const struct strv *numbers)
{
	AUTO(str) table = STR_INIT(TABLE_MAX);
	struct text rest, line, path;

	if (!read_table(root, "proc/swaps", &table))
		return true;
	rest = (struct text){str_text(&table), table.len};
	while (text_split(&rest, '\n', &line)) {
		text_split(&line, ' ', &path);
		if (names_escaped(root, path, numbers))
			return true;
	}
	return false;
}

bool device_use_block(int root, dev_t device)
{
	AUTO(strv) numbers = STRV_INIT(NUMBERS_MAX);

	return collect(root, device, &numbers) || mounted(root, &numbers) ||
	       swapped_to(root, &numbers);
}
