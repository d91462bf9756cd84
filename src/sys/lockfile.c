#include "sys/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"

enum { BACK_OFF_MIN_MS = 5, BACK_OFF_MAX_MS = 50 };

static const struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

/* Of errno. Always -1. */
static int fail(int dir, const char *name, const char *what, struct error *err)
{
	int why = errno;
	auto_free char *folder = file_fd_path(dir);
	auto_free char *path = folder ? mem_printf("%s/%s", folder, name) : mem_strdup(name);

	return error_set_errno(err, ERROR_IO, why, "%s %s", what, quoted_string(path));
}

/*
 * One attempt on whatever file has the name now. The holder of a lock may remove its file: a lock
 * on a file that lost its name excludes nobody, so that is *ret_fd = -1 and the caller looks again.
 */
static int lock_once(int dir, const char *name, int *ret_fd, struct error *err)
{
	struct flock lock = whole_file;
	struct stat st;
	auto_fd int fd = openat(
		dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);

	*ret_fd = -1;
	if (fd < 0)
		return fail(dir, name, "cannot open the lock file", err);
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		if (errno == EAGAIN || errno == EACCES)
			return 1;
		return fail(dir, name, "cannot lock", err);
	}
	if (fstat(fd, &st) < 0)
		return fail(dir, name, "cannot look at", err);
	if (st.st_nlink > 0)
		*ret_fd = TAKE_FD(fd);
	return 0;
}

int lockfile_try(int dir, const char *name, int *ret_fd, struct error *err)
{
	int fd = -1, r = 0;

	if (fault_hit("lock")) {
		errno = ENOLCK;
		return fail(dir, name, "cannot lock", err);
	}
	while (r == 0 && fd < 0)
		r = lock_once(dir, name, &fd, err);
	if (r == 0)
		*ret_fd = fd;
	return r;
}

int lockfile_held(int dir, const char *name, struct error *err)
{
	struct flock lock = whole_file;
	auto_fd int fd =
		openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fcntl(fd, F_OFD_GETLK, &lock) < 0)
		return fail(dir, name, "cannot look at the lock file", err);
	return lock.l_type != F_UNLCK;
}

/* Its prototype is in <sys/file.h>, which here would be our own file of that name. */
bool lockfile_try_directory(int dir)
{
	return syscall(SYS_flock, dir, LOCK_EX | LOCK_NB) == 0;
}

/* Sleeps at most `ms`; true = cancelled. */
static bool pause_or_cancel(int cancel_fd, int64_t ms)
{
	struct pollfd p = {.fd = cancel_fd, .events = POLLIN};

	return poll(&p, 1, (int)ms) > 0;
}

int lockfile_try_slot(const struct lockfile_pool *pool, int *ret_fd, struct error *err)
{
	for (unsigned i = 0; i < pool->slots; i++) {
		auto_free char *slot = mem_printf("%s-%u", pool->name, i);
		int r = lockfile_try(pool->dir, slot, ret_fd, err);
		if (r != 1)
			return r;
	}
	return 1;
}

int lockfile_wait(int dir, const char *name, int64_t deadline_ms, int cancel_fd, int *ret_fd,
	struct error *err)
{
	int64_t delay = BACK_OFF_MIN_MS;

	for (;;) {
		int r = lockfile_try(dir, name, ret_fd, err);
		if (r != 1)
			return r;
		int64_t left = deadline_ms ? deadline_ms - clock_boottime_ms() : delay;
		if (left <= 0)
			return 1;
		if (pause_or_cancel(cancel_fd, left < delay ? left : delay))
			return 2;
		delay = delay * 2 > BACK_OFF_MAX_MS ? BACK_OFF_MAX_MS : delay * 2;
	}
}
