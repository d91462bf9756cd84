/*
 * Directories. Removal works on one level at a time, so that its memory and descriptors do not
 * depend on the depth of a tree that an outsider made: what a directory holds is unlinked, and a
 * directory in it that is not empty is moved up to the top of the tree under a fresh name, where a
 * later pass meets it. Every directory is moved once at most. Only names below held descriptors
 * are used, never `..`, so a tree that somebody moves meanwhile leads nowhere else, and a mount
 * point ends it (EBUSY, EXDEV).
 */
#include "sys/file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "sys/fault.h"

static int make_dir(int parent, const char *name, mode_t mode)
{
	bool made = mkdirat(parent, name, mode) == 0;

	if (!made && errno != EEXIST)
		return -1;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (made ? O_NOFOLLOW : 0));
	/* The umask may have taken bits away. */
	if (fd >= 0 && made && fchmod(fd, mode) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_or_make(int parent, const char *name, mode_t mode)
{
	int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 || errno != ENOENT ? fd : make_dir(parent, name, mode);
}

int file_make_dirs(const char *path, mode_t mode, struct error *err)
{
	struct text rest = text_of(path), part;
	auto_fd int fd = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fault_hit("file-dirs"))
		return error_set_errno(
			err, ERROR_IO, ENOSPC, "cannot make directory %s", quoted_string(path));
	while (fd >= 0 && text_split(&rest, '/', &part)) {
		if (part.len == 0)
			continue;
		auto_free char *name = mem_strndup(part.p, part.len);
		int next = open_or_make(fd, name, mode);
		int why = errno;
		close(fd);
		fd = next;
		errno = why;
	}
	if (fd < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot make directory %s", quoted_string(path));
	return 0;
}

struct removal {
	int top;        /* the root of the tree */
	unsigned names; /* given so far */
	bool progress;  /* this pass removed or moved something */
};
enum { NAME_TRIES = 1 << 16 };

typedef int visit_fn(struct removal *r, int dir, const char *name);

static void cleanup_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* A directory that we may search and change, whatever its mode says, if it is ours. */
static int open_for_removal(int parent, const char *name)
{
	auto_fd int path = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char by_fd[64];

	if (path < 0)
		return -1;
	if (fstat(path, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU) {
		snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", path);
		(void)!chmod(by_fd, S_IRWXU); /* if it was needed, the open says so */
	}
	return openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int each_entry(struct removal *r, int dir, visit_fn *visit)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__attribute__((cleanup(cleanup_dir))) DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!d) {
		cleanup_fd(&copy);
		return -1;
	}
	errno = 0;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (visit(r, dir, e->d_name) < 0)
			return -1;
		errno = 0;
	}
	return errno == 0 ? 0 : -1;
}

/* 0 = gone, 1 = a directory, which unlink does not take. */
static int remove_file(struct removal *r, int dir, const char *name)
{
	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT) {
		r->progress = true;
		return 0;
	}
	return errno == EISDIR || errno == EPERM ? 1 : -1;
}

static int remove_dir(struct removal *r, int dir, const char *name)
{
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return -1;
	r->progress = true;
	return 0;
}

/* Moves dir/name, a directory that is not empty, to the top. */
static int move_up(struct removal *r, int dir, const char *name)
{
	/* Its own `..` changes, so it must be writable. */
	auto_fd int fd = open_for_removal(dir, name);
	char fresh[64];

	if (fd < 0)
		return -1;
	for (int i = 0; i < NAME_TRIES; i++) {
		snprintf(fresh, sizeof(fresh), ".removed-%u", r->names++);
		if (renameat(dir, name, r->top, fresh) == 0) {
			r->progress = true;
			return 0;
		}
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			break;
	}
	return -1;
}

static int visit_inner(struct removal *r, int dir, const char *name)
{
	int kind = remove_file(r, dir, name);

	if (kind <= 0 || remove_dir(r, dir, name) == 0)
		return kind < 0 ? -1 : 0;
	return errno == ENOTEMPTY || errno == EEXIST ? move_up(r, dir, name) : -1;
}

/* What is left when somebody adds entries meanwhile is met by the next pass. */
static int visit_top(struct removal *r, int dir, const char *name)
{
	int kind = remove_file(r, dir, name);

	if (kind <= 0 || remove_dir(r, dir, name) == 0)
		return kind < 0 ? -1 : 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -1;
	auto_fd int fd = open_for_removal(dir, name);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (each_entry(r, fd, visit_inner) < 0)
		return -1;
	return remove_dir(r, dir, name) == 0 || errno == ENOTEMPTY || errno == EEXIST ? 0 : -1;
}

static int remove_tree(int dir, const char *name)
{
	struct removal r = {.top = -1};
	int kind = remove_file(&r, dir, name);

	if (kind <= 0)
		return kind;
	auto_fd int top = open_for_removal(dir, name);
	if (top < 0)
		return errno == ENOENT ? 0 : -1;
	r.top = top;
	do {
		r.progress = false;
		if (each_entry(&r, top, visit_top) < 0)
			return -1;
		if (remove_dir(&r, dir, name) == 0)
			return 0;
	} while (r.progress && (errno == ENOTEMPTY || errno == EEXIST));
	return -1;
}

int file_remove_tree_at(int dir, const char *name, struct error *err)
{
	assert(name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
	if (remove_tree(dir, name) < 0)
		return error_set_errno(
			err, ERROR_IO, errno, "cannot remove %s", quoted_string(name));
	return 0;
}
