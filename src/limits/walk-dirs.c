/*
 * The directories on the way from the root to where a walk is. No more than bounds.max_dirs are
 * open, always the deepest: one that is closed is found again as `..` of its child, and must be the
 * same directory. So neither depth nor length of a path is a bound.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "limits/walk-internal.h"

enum { OPEN_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, FIRST_ROOM = 32 };

int walk_dirs_stat(int fd, const char *name, struct statx *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (name[0] ? 0 : AT_EMPTY_PATH);

	return statx(fd, name, flags,
		STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BLOCKS | STATX_MNT_ID, ret);
}

uint64_t walk_dirs_device(const struct statx *st)
{
	return makedev(st->stx_dev_major, st->stx_dev_minor);
}

static bool close_shallowest(struct walker *w)
{
	if (w->shallowest >= w->depth)
		return false;
	struct walk_dir *d = &w->dirs[w->shallowest++];
	close(d->fd);
	d->fd = -1;
	return true;
}

/* The parent stays open, in which a name is looked up. */
static int open_dir(struct walker *w, int at, const char *name)
{
	int fd = openat(at, name, OPEN_FLAGS);

	if (fd < 0 && errno == EMFILE && w->shallowest + 1 < w->depth && close_shallowest(w))
		fd = openat(at, name, OPEN_FLAGS);
	return fd;
}

int walk_dirs_open(struct walker *w, const char *name)
{
	return open_dir(w, w->dirs[w->depth - 1].fd, name);
}

struct walk_dir walk_dirs_of(int fd, const struct statx *st)
{
	return (struct walk_dir){
		.fd = fd,
		.device = walk_dirs_device(st),
		.inode = st->stx_ino,
		.mount = st->stx_mnt_id,
	};
}

int walk_dirs_push(struct walker *w, const struct walk_dir *d, const char *name)
{
	if (walk_tree_depth(w) >= WALK_DEPTH_MAX)
		return -1;
	if (w->depth == w->room) {
		w->room = w->room ? 2 * w->room : FIRST_ROOM;
		w->dirs = mem_grow(w->dirs, w->room, sizeof(*w->dirs));
	}
	w->dirs[w->depth] = *d;
	w->dirs[w->depth].names = w->names.len;
	w->dirs[w->depth].name = w->path.len;
	w->depth++;
	if (name[0]) {
		str_add_char(&w->path, '/');
		str_add_text(&w->path, name);
	}
	while (w->depth - w->shallowest > w->all->max_dirs)
		close_shallowest(w);
	return 0;
}

/* Opens the directory above the deepest one, which is still open. */
static enum walk_reason reopen(struct walker *w)
{
	struct walk_dir *above = &w->dirs[w->depth - 2];
	struct statx st;
	int fd = open_dir(w, w->dirs[w->depth - 1].fd, "..");

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? WALK_FDS : WALK_ERROR;
	bool same = walk_dirs_stat(fd, "", &st) == 0 && st.stx_ino == above->inode &&
		    walk_dirs_device(&st) == above->device &&
		    (!(st.stx_mask & STATX_MNT_ID) || st.stx_mnt_id == above->mount) &&
		    lseek(fd, above->offset, SEEK_SET) >= 0;
	if (!same) {
		close(fd);
		return WALK_MOVED;
	}
	above->fd = fd;
	w->shallowest = w->depth - 2;
	return WALK_COMPLETE;
}

enum walk_reason walk_dirs_pop(struct walker *w)
{
	struct walk_dir *d = &w->dirs[w->depth - 1];
	enum walk_reason reason = WALK_COMPLETE;

	if (w->depth > 1 && w->shallowest == w->depth - 1)
		reason = reopen(w);
	close(d->fd);
	d->fd = -1;
	w->names.len = d->names;
	w->path.len = d->name;
	w->depth--;
	if (w->shallowest > w->depth)
		w->shallowest = w->depth;
	return reason;
}

void walk_dirs_clear(struct walker *w)
{
	for (size_t i = w->shallowest; i < w->depth; i++)
		close(w->dirs[i].fd);
	w->depth = w->shallowest = 0;
	w->names.len = w->path.len = 0;
}
