/*
 * Opening paths that an outsider can change: openat2(2), or where it is missing (ENOSYS) or a
 * seccomp filter forbids it (EPERM) a walk component by component that is never less strict: it
 * refuses `..` altogether, where RESOLVE_BENEATH only refuses what leaves the directory.
 */
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/text.h"
#include "sys/file-internal.h"

/* The kernel asks for a repetition when something was renamed during a walk with `..`. */
enum { RENAMED_TRIES = 64 };

static const struct {
	unsigned ours;
	uint64_t kernel;
} resolve_flags[] = {
	{FILE_BENEATH, RESOLVE_BENEATH},
	{FILE_NO_SYMLINKS, RESOLVE_NO_SYMLINKS},
	{FILE_NO_MAGICLINKS, RESOLVE_NO_MAGICLINKS},
	{FILE_IN_ROOT, RESOLVE_IN_ROOT},
};

static int openat2_retry(int dir, const char *path, int flags, mode_t mode, unsigned resolve)
{
	struct open_how how = {.flags = (unsigned)flags};
	long fd = -1;

	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		how.mode = mode;
	for (size_t i = 0; i < ARRAY_SIZE(resolve_flags); i++)
		if (resolve & resolve_flags[i].ours)
			how.resolve |= resolve_flags[i].kernel;
	for (int i = 0; i < RENAMED_TRIES; i++) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return (int)fd;
}

static int fail(int errnum)
{
	errno = errnum;
	return -1;
}

static bool is_link(int fd, const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	       S_ISLNK(st.st_mode);
}

/* One component; a link is ELOOP, but for O_PATH|O_NOFOLLOW, which may hold the link itself. */
static int open_component(int dir, const char *name, int flags, mode_t mode)
{
	auto_fd int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return errno == ENOTDIR && is_link(dir, name) ? fail(ELOOP) : -1;
	if ((flags & O_PATH) && !(flags & O_NOFOLLOW) && is_link(fd, ""))
		return fail(ELOOP);
	return TAKE_FD(fd);
}

static bool next_component(struct text *rest, struct text *ret_name)
{
	while (text_split(rest, '/', ret_name))
		if (ret_name->len > 0 && !text_is(*ret_name, "."))
			return true;
	return false;
}

int file_open_by_component(int dir, const char *path, int flags, mode_t mode)
{
	struct text rest = text_of(path), name, next;
	auto_fd int held = -1;
	char buf[NAME_MAX + 1];
	bool more;

	if (rest.len == 0)
		return fail(ENOENT);
	if (path[0] == '/')
		return fail(EXDEV);
	if (text_ends(rest, "/"))
		flags |= O_DIRECTORY;
	if (!next_component(&rest, &name))
		return open_component(dir, ".", flags, mode);
	do {
		more = next_component(&rest, &next);
		if (text_is(name, ".."))
			return fail(EXDEV);
		if (name.len > NAME_MAX)
			return fail(ENAMETOOLONG);
		memcpy(buf, name.p, name.len);
		buf[name.len] = '\0';
		int fd = open_component(
			held >= 0 ? held : dir, buf, more ? O_PATH | O_DIRECTORY : flags, mode);
		if (fd < 0 || !more)
			return fd;
		close(held);
		held = fd;
		name = next;
	} while (more);
	return fail(EINVAL);
}

int file_open_at(int dir, const char *path, int flags, mode_t mode, unsigned resolve)
{
	flags |= O_CLOEXEC;
	int fd = openat2_retry(dir, path, flags, mode, resolve);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	int why = errno;
	if (resolve == 0)
		return openat(dir, path, flags, mode);
	if ((resolve & ~(unsigned)FILE_NO_MAGICLINKS) == (FILE_BENEATH | FILE_NO_SYMLINKS))
		return file_open_by_component(dir, path, flags, mode);
	return fail(why == EPERM ? EPERM : ENOSYS);
}

int file_open_resolved(const char *path, int flags)
{
	auto_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -1;
	if (path[0] != '/')
		return fail(EINVAL);
	return file_open_at(root, path[1] ? path + 1 : ".", flags | O_DIRECTORY | O_NOFOLLOW, 0,
		FILE_BENEATH | FILE_NO_SYMLINKS);
}
