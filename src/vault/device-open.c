#include "vault/device-open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "sys/file.h"
#include "vault/device-payload.h"
#include "vault/device-use.h"

void device_found_done(struct device_found *d)
{
	free(d->path);
	*d = (struct device_found){.path = NULL};
}

/* O_PATH descriptor of what `source` leads to below /dev; -1 with errno. */
static int open_beneath_dev(const char *source)
{
	auto_fd int dev = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dev < 0)
		return -1;
	return file_open_at(
		dev, source + strlen("/dev/"), O_PATH, 0, FILE_BENEATH | FILE_NO_MAGICLINKS);
}

static int open_failed(const char *source, int errnum, struct error *err)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		return error_set(
			err, ERROR_DEVICE_MISSING, "there is no device %s", quoted_string(source));
	case EXDEV:
	case ELOOP:
		return error_set(err, ERROR_DEVICE_OUTSIDE_DEV, "%s leads out of /dev",
			quoted_string(source));
	default:
		return error_set_errno(
			err, ERROR_IO, errnum, "looking at device %s", quoted_string(source));
	}
}

static enum device_type type_of(mode_t mode)
{
	return S_ISCHR(mode) ? DEVICE_CHAR : S_ISBLK(mode) ? DEVICE_BLOCK : DEVICE_OTHER;
}

/* The last component of what sysfs names as its subsystem; "" = it has none. */
static void read_subsystem(const struct stat *st, struct device_node *n)
{
	auto_free char *path = mem_printf("/sys/dev/%s/%u:%u/subsystem",
		S_ISBLK(st->st_mode) ? "block" : "char", n->major, n->minor);
	auto_free char *target = file_resolve(path);
	const char *last = target ? strrchr(target, '/') : NULL;

	if (last && strlen(last + 1) < sizeof(n->subsystem))
		memcpy(n->subsystem, last + 1, strlen(last + 1) + 1);
}

static void look_at(const struct stat *st, struct device_node *n)
{
	*n = (struct device_node){.type = type_of(st->st_mode),
		.major = major(st->st_rdev),
		.minor = minor(st->st_rdev)};
	if (n->type != DEVICE_OTHER)
		read_subsystem(st, n);
	if (n->type != DEVICE_BLOCK)
		return;
	auto_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	n->in_use = root < 0 || device_use_block(root, st->st_rdev);
}

int device_open_find(const char *source, struct device_found *ret, struct error *err)
{
	auto_fd int fd = open_beneath_dev(source);
	struct stat st;

	if (fd < 0)
		return open_failed(source, errno, err);
	auto_free char *path = file_fd_path(fd);
	if (!path || fstat(fd, &st) < 0)
		return open_failed(source, errno, err);
	if (text_starts(text_of(path), "/dev/") && device_payload_forbidden(text_of(path)))
		return error_set(err, ERROR_DEVICE_FORBIDDEN,
			"%s leads to %s, which is never given", quoted_string(source),
			quoted_string(path));
	*ret = (struct device_found){.path = TAKE_PTR(path), .rdev = st.st_rdev};
	look_at(&st, &ret->node);
	return 0;
}

int device_open_again(const char *path, bool block, dev_t rdev, struct error *err)
{
	auto_fd int fd = open_beneath_dev(path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set_errno(err, ERROR_DEVICE_CHANGED, errno,
			"device %s, which was leased", quoted_string(path));
	if (type_of(st.st_mode) != (block ? DEVICE_BLOCK : DEVICE_CHAR) || st.st_rdev != rdev)
		return error_set(err, ERROR_DEVICE_CHANGED,
			"%s is not the device any more that was leased", quoted_string(path));
	return 0;
}
