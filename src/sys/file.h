/*
 * Files by descriptor. Paths that an outsider can change are only walked with openat2 below a
 * directory descriptor (fallback: component by component with O_NOFOLLOW). All descriptors are
 * CLOEXEC. Errors are `io`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/secret.h"
#include "base/str.h"

enum file_resolve {
	FILE_BENEATH = 1,       /* RESOLVE_BENEATH */
	FILE_NO_SYMLINKS = 2,   /* RESOLVE_NO_SYMLINKS (includes magic links) */
	FILE_NO_MAGICLINKS = 4, /* RESOLVE_NO_MAGICLINKS */
	FILE_IN_ROOT = 8,       /* RESOLVE_IN_ROOT */
};

/*
 * openat2(dir, path, flags | O_CLOEXEC, mode, resolve): descriptor, or -1 with errno set (no
 * struct error: callers map errno to outcomes of their own). The component-wise fallback supports
 * FILE_BENEATH|FILE_NO_SYMLINKS (with or without FILE_NO_MAGICLINKS, which is part of it) and
 * refuses `..` there; other combinations then fail with ENOSYS, or EPERM if openat2 said so.
 */
must_check int file_open_at(int dir, const char *path, int flags, mode_t mode, unsigned resolve);

/*
 * Opens the directory of an absolute path that was resolved before (O_PATH, or O_RDONLY, as flags):
 * descriptor, or -1 with errno. A link on the way now was put there meanwhile, by somebody who may
 * write there, and is not followed: ELOOP or ENOTDIR.
 */
must_check int file_open_resolved(const char *path, int flags);

/*
 * Reads at most max + 1 bytes from the descriptor: 0, or 1 = more than max (content is cut). *ret
 * is a valid str (STR_INIT); what it held is freed when there is something new.
 */
must_check int file_read_fd(int fd, size_t max, struct str *ret, struct error *err);
/*
 * The whole of a regular file or memfd, from its start, into locked memory, at most max bytes: 0,
 * or -1 `io`. What *ret held is not looked at.
 */
must_check int file_read_secret(int fd, size_t max, struct secret *ret, struct error *err);
/* open (follows links) + read; `io` error names the path; larger than max is an error. */
must_check int file_read(const char *path, size_t max, struct str *ret, struct error *err);
/* /proc and /sys files below a directory descriptor: as file_read_fd, errno kept: -1 without err.
 */
must_check int file_read_at(int dir, const char *name, size_t max, struct str *ret);

must_check int file_write_all(int fd, const void *bytes, size_t n, struct error *err);
/*
 * Replaces dir/name atomically: temporary file in the same directory, mode, rename. With `durable`
 * the file is synced before the rename, so that a power cut leaves the old or the new one, at the
 * price of some milliseconds; a killed process never needs it. Which of the two is decided by
 * file_sync_dir() afterwards.
 */
must_check int file_replace_at(
	int dir, const char *name, mode_t mode, struct text bytes, bool durable, struct error *err);
/*
 * Makes dir/name, whole or not at all; the mode is what the umask leaves of it. 1 = the name is
 * taken, by whatever it is.
 */
must_check int file_create_at(
	int dir, const char *name, mode_t mode, struct text bytes, struct error *err);
/* What has a name in the directory now outlives a power cut. */
must_check int file_sync_dir(int dir, struct error *err);

/* mkdir -p with the given mode for every directory it makes; existing ones are left as they are. */
must_check int file_make_dirs(const char *path, mode_t mode, struct error *err);
/*
 * Opens parent/name, a directory and no link, for reading; with `make` it is made (0700) if it is
 * missing, and what is above it. Descriptor, or -1 + err.
 */
must_check int file_open_folder(const char *parent, const char *name, bool make, struct error *err);
/*
 * Removes dir/name (one component) with what is in it, following no link; what is gone is fine.
 * Depth costs neither memory nor descriptors. A mount point in it is an error.
 */
must_check int file_remove_tree_at(int dir, const char *name, struct error *err);
/* realpath(3); caller frees. NULL with errno. */
must_check char *file_resolve(const char *path);
/* Path of a descriptor from /proc/self/fd; caller frees. NULL with errno. */
must_check char *file_fd_path(int fd);
bool file_same(const struct stat *a, const struct stat *b); /* device and inode */
/* statfs type is tmpfs; mount has noexec (statvfs). -1 with errno. */
int file_on_tmpfs(int fd);
int file_on_noexec(int fd);
/* A sealed, read-only memfd that holds the bytes; -1 + err. */
must_check int file_memfd(const char *name, struct text bytes, struct error *err);
