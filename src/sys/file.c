#include "sys/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "base/text.h"
#include "sys/fault.h"

/* Linux 6.3; Debian 12's headers do not know it. Where vm.memfd_noexec is 2 it must be given. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

enum { CHUNK_MIN = 4096, TEMP_NAME_TRIES = 16 };

/* read(2) past EINTR. */
static ssize_t read_fully_once(int fd, void *to, size_t n)
{
	ssize_t r;

	do
		r = read(fd, to, n);
	while (r < 0 && errno == EINTR);
	return r;
}

/* 0, 1 = more than the maximum of `to`, -1 with errno. */
static int read_to_end(int fd, struct str *to)
{
	for (;;) {
		size_t room = to->max - to->len;
		size_t chunk = to->len > CHUNK_MIN ? to->len : CHUNK_MIN;
		char probe;
		if (room == 0) {
			ssize_t more = read_fully_once(fd, &probe, 1);
			return more < 0 ? -1 : more > 0;
		}
		chunk = chunk < room ? chunk : room;
		ssize_t n = read_fully_once(fd, str_reserve(to, chunk), chunk);
		if (n < 0)
			return -1;
		to->len += (size_t)n;
		to->data[to->len] = '\0';
		if (n == 0)
			return 0;
	}
}

static int read_max(int fd, size_t max, struct str *ret)
{
	AUTO(str) content = STR_INIT(max);
	int r = read_to_end(fd, &content);

	if (r < 0)
		return -1;
	str_done(ret);
	*ret = content;
	content = STR_INIT(0);
	return r;
}

int file_read_fd(int fd, size_t max, struct str *ret, struct error *err)
{
	int r = read_max(fd, max, ret);

	return r < 0 ? error_set_errno(err, ERROR_IO, errno, "cannot read file") : r;
}

int file_read(const char *path, size_t max, struct str *ret, struct error *err)
{
	AUTO(str) content = STR_INIT(0);
	auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int r = fd < 0 ? -1 : read_max(fd, max, &content);

	if (r < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot read %s", quoted_string(path));
	if (r > 0)
		return error_set(
			err, ERROR_IO, "%s is larger than %zu bytes", quoted_string(path), max);
	str_done(ret);
	*ret = content;
	content = STR_INIT(0);
	return 0;
}

int file_read_at(int dir, const char *name, size_t max, struct str *ret)
{
	auto_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -1 : read_max(fd, max, ret);
}

static int write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	if (fault_hit("file-write")) {
		errno = ENOSPC;
		return -1;
	}
	while (n > 0) {
		ssize_t done = write(fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int file_write_all(int fd, const void *bytes, size_t n, struct error *err)
{
	if (write_all(fd, bytes, n) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot write");
	return 0;
}

/* A new file next to the one that it becomes; its name goes into `temp`. */
static int open_temp(int dir, mode_t mode, char temp[32])
{
	for (int i = 0; i < TEMP_NAME_TRIES; i++) {
		uint64_t random;
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(temp, 32, ".tmp-%016llx", (unsigned long long)random);
		int fd = openat(
			dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static int fill(int fd, mode_t mode, struct text bytes, bool durable)
{
	if (write_all(fd, bytes.p, bytes.len) < 0 || fchmod(fd, mode) < 0)
		return -1;
	return durable ? fsync(fd) : 0;
}

int file_replace_at(
	int dir, const char *name, mode_t mode, struct text bytes, bool durable, struct error *err)
{
	char temp[32];
	auto_fd int fd = open_temp(dir, 0600, temp);

	if (fd < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot write %s", quoted_string(name));
	int r = fill(fd, mode, bytes, durable);
	if (r == 0 && fault_hit("file-replace")) {
		errno = EIO;
		r = -1;
	}
	if (r == 0)
		r = renameat(dir, temp, dir, name);
	if (r < 0) {
		error_set_errno(err, ERROR_IO, errno, "cannot write %s", quoted_string(name));
		unlinkat(dir, temp, 0);
		return -1;
	}
	return 0;
}

/* A file system that cannot do this in one step has links. */
static int rename_to_new(int dir, const char *from, const char *to)
{
	if (fault_hit("file-replace")) {
		errno = EIO;
		return -1;
	}
	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	return errno == EINVAL && linkat(dir, from, dir, to, 0) == 0 ? unlinkat(dir, from, 0) : -1;
}

int file_create_at(int dir, const char *name, mode_t mode, struct text bytes, struct error *err)
{
	char temp[32];
	auto_fd int fd = open_temp(dir, mode, temp);

	if (fd >= 0 && write_all(fd, bytes.p, bytes.len) == 0 &&
		rename_to_new(dir, temp, name) == 0)
		return 0;
	int why = errno;
	if (fd >= 0)
		unlinkat(dir, temp, 0);
	return why == EEXIST ? 1
			     : error_set_errno(
				       err, ERROR_IO, why, "cannot write %s", quoted_string(name));
}

int file_sync_dir(int dir, struct error *err)
{
	auto_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return error_set_errno(err, ERROR_IO, errno, "cannot sync a directory");
	return 0;
}

char *file_resolve(const char *path)
{
	return realpath(path, NULL);
}

char *file_fd_path(int fd)
{
	char link[64], buf[PATH_MAX + 16];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, buf, sizeof(buf));
	if (n < 0)
		return NULL;
	if ((size_t)n == sizeof(buf)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return mem_strndup(buf, (size_t)n);
}

bool file_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int file_on_tmpfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) < 0 ? -1 : fs.f_type == TMPFS_MAGIC;
}

int file_on_noexec(int fd)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) < 0 ? -1 : (fs.f_flag & ST_NOEXEC) != 0;
}

static int memfd(const char *name)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, flags);
}

int file_read_secret(int fd, size_t max, struct secret *ret, struct error *err)
{
	struct secret whole;
	struct stat st;
	size_t got = 0;
	ssize_t n = 1;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size > max)
		return error_set(err, ERROR_IO, "what was handed over cannot be read");
	secret_make((size_t)st.st_size, &whole);
	while (got < whole.len && n > 0) {
		n = pread(fd, whole.p + got, whole.len - got, (off_t)got);
		if (n > 0)
			got += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (got == whole.len) {
		*ret = whole;
		return 0;
	}
	secret_done(&whole);
	return error_set_errno(err, ERROR_IO, n < 0 ? errno : EIO, "reading what was handed over");
}

int file_memfd(const char *name, struct text bytes, struct error *err)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	auto_fd int fd = memfd(name);
	int r = fd < 0 ? -1 : write_all(fd, bytes.p, bytes.len);

	if (r == 0 && fault_hit("file-memfd")) {
		errno = ENOMEM;
		r = -1;
	}
	if (r < 0 || lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, seals) < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot make memory file %s", quoted_string(name));
	return TAKE_FD(fd);
}

int file_open_folder(const char *parent, const char *name, bool make, struct error *err)
{
	auto_free char *path = mem_printf("%s/%s", parent, name);

	if (make && file_make_dirs(path, 0700, err) < 0)
		return -1;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 ? fd
		       : error_set_errno(err, ERROR_IO, errno, "opening %s", quoted_string(path));
}
