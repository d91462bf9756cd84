#include "config/source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "config/config.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/lockfile.h"

enum { LOCK_MS = 10000 };

static int unsafe(const char *path, const char *what, struct error *err)
{
	return error_set(
		err, ERROR_CONFIG_UNSAFE, "configuration %s: %s", quoted_string(path), what);
}

/* 0, 1 = absent, -1. A FIFO or device must not make anybody wait: hence O_NONBLOCK. */
static int open_file(const char *path, int *ret_fd, struct error *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (errno == ENOENT)
		return 1;
	if (errno == ELOOP) {
		unsafe(path, "it is a symbolic link", err);
		return error_set_remedy(err, "name the file itself");
	}
	if (errno == ENXIO)
		return unsafe(path, "it is not a regular file", err);
	return error_set_errno(
		err, ERROR_IO, errno, "open the configuration %s", quoted_string(path));
}

/* Whoever can write the file decides what every project may do. */
static int check_file(const char *path, const struct stat *st, struct error *err)
{
	if (!S_ISREG(st->st_mode)) {
		unsafe(path, "it is not a regular file", err);
		return error_set_remedy(err, "make it a regular file");
	}
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return unsafe(path, "it belongs to another user", err);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return unsafe(path, "group or others can write it", err);
	return 0;
}

int source_read(const char *path, struct str *ret, mode_t *ret_mode, struct error *err)
{
	auto_fd int fd = -1;
	struct stat st;
	int opened = open_file(path, &fd, err);

	if (opened != 0)
		return opened;
	if (fstat(fd, &st) < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "look at the configuration %s", quoted_string(path));
	if (check_file(path, &st, err) < 0)
		return -1;
	*ret_mode = st.st_mode & 0777;
	int rest = file_read_fd(fd, CONFIG_MAX_BYTES, ret, err);
	if (rest < 0)
		return error_prefix(err, "configuration %s", quoted_string(path));
	if (rest == 0)
		return 0;
	unsafe(path, "it is larger than 256 KiB", err);
	return error_set_remedy(err, "shorten it");
}

mode_t source_default_mode(void)
{
	return geteuid() == 0 ? 0644 : 0600;
}

void source_change_done(struct source_change *c)
{
	if (c->lock >= 0)
		close(c->lock);
	if (c->dir >= 0)
		close(c->dir);
}

int source_change_begin(const char *path, struct source_change *ret, struct error *err)
{
	auto_free char *parent = path_parent(path);
	auto_free char *name = mem_printf(".%s.lock", path_name(path));

	if (file_make_dirs(parent, geteuid() == 0 ? 0755 : 0700, err) < 0)
		return -1;
	ret->dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "open the directory %s", quoted_string(parent));
	int64_t deadline = clock_boottime_ms() + LOCK_MS;
	int r = lockfile_wait(ret->dir, name, deadline, -1, &ret->lock, err);
	if (r <= 0)
		return r;
	error_set(err, ERROR_IO, "another process is changing %s", quoted_string(path));
	return error_set_remedy(err, "try again when it is done");
}

int source_replace(const struct source_change *c, const char *path, struct text bytes, mode_t mode,
	struct error *err)
{
	if (file_replace_at(c->dir, path_name(path), mode, bytes, true, err) < 0)
		return -1;
	return file_sync_dir(c->dir, err);
}
