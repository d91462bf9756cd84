/*
 * Theory of operation. A walk goes depth first without recursion. Of the deepest directory it reads
 * a piece of the listing: everything in it is looked at and counted at once, names of directories
 * are put on a stack (walk.names), from which the next one to enter is taken; when those of this
 * piece are done, the next piece is read. So memory is bounded by what lies beside the way down,
 * and a directory is closed and opened again (walk-dirs.c) at the border of two pieces only. The
 * deeper, the smaller the pieces: a sample of a tree 4,000 deep takes less than 8 MiB.
 *
 * Files with several links are remembered (walk-links.c). Those that no longer fit count by shares,
 * a link of n the n-th part, never more than the file in all; the result is incomplete then.
 *
 * Everything is counted by what the kernel says of a name below an open directory, and nothing that
 * happens meanwhile leads out: a link is never followed, another mount never entered.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/enum-text.h"
#include "base/mem.h"
#include "limits/walk-internal.h"
#include "limits/walk-mounts.h"
#include "sys/clock.h"
#include "sys/fault.h"
#include "sys/file.h"

enum {
	BLOCK = 512,
	TICKS = 128, /* names between two looks at the clock */
	DIRS_MIN = 8,
	DIRS_MAX = 4096,
	DIRS_SHARE = 8,
	MOUNTINFO_MAX = 16 << 20,
};

static const char *const reasons[] = {
	[WALK_COMPLETE] = "complete",
	[WALK_DEADLINE] = "deadline",
	[WALK_UNREADABLE] = "unreadable",
	[WALK_MOVED] = "moved",
	[WALK_FDS] = "fds",
	[WALK_ERROR] = "error",
};
ENUM_TEXT(walk_reason, reasons, WALK_REASON_COUNT)

void walk_result_done(struct walk_result *r)
{
	for (size_t i = 0; i < WALK_UNREADABLE_SHOWN; i++)
		free(r->unreadable[i]);
	*r = (struct walk_result){0};
}

static size_t usual_dirs(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur / DIRS_SHARE >= DIRS_MAX)
		return DIRS_MAX;
	return r.rlim_cur / DIRS_SHARE < DIRS_MIN ? DIRS_MIN : r.rlim_cur / DIRS_SHARE;
}

struct walk *walk_new(const struct walk_bounds *b)
{
	struct walk *w = mem_alloc(sizeof(*w));

	w->bounds = *b;
	if (w->bounds.max_dirs == 0)
		w->bounds.max_dirs = usual_dirs();
	w->names = STR_INIT(WALK_NAMES_MAX);
	w->path = STR_INIT(WALK_NAMES_MAX);
	w->mounts = STRV_INIT(WALK_MOUNTS_MAX);
	w->links.max = b->max_links;
	w->list = mem_alloc(WALK_LIST_SIZE);
	return w;
}

void walk_free(struct walk *w)
{
	if (!w)
		return;
	walk_dirs_clear(w);
	walk_links_done(&w->links);
	walk_links_done(&w->nameless);
	strv_done(&w->mounts);
	str_done(&w->names);
	str_done(&w->path);
	free(w->root_path);
	free(w->dirs);
	free(w->list);
	free(w);
}

static bool end(struct walk *w, enum walk_reason reason)
{
	w->result.reason = reason;
	return false;
}

static bool cancelled(const struct walk *w)
{
	return w->bounds.cancelled && w->bounds.cancelled(w->bounds.data);
}

static bool time_left(struct walk *w)
{
	if (cancelled(w) ||
		(w->bounds.deadline_ms > 0 && clock_boottime_ms() >= w->bounds.deadline_ms))
		return end(w, WALK_DEADLINE);
	return true;
}

/* The deepest directory, or what has this name in it. */
static void note_unreadable(struct walk *w, const char *name)
{
	AUTO(str) path = STR_INIT(WALK_PATH_SHOWN);
	uint64_t n = w->result.n_unreadable++;

	if (n >= WALK_UNREADABLE_SHOWN)
		return;
	if (w->path.len > 1) {
		size_t len = w->path.len - 1;
		str_add(&path, w->path.data + 1, len < WALK_PATH_SHOWN ? len : WALK_PATH_SHOWN);
	}
	if (name)
		str_addf(&path, "%s%s", path.len > 0 ? "/" : "", name);
	w->result.unreadable[n] = path.len > 0 ? str_take(&path) : mem_strdup(".");
}

static bool on_mountpoint(const struct walk *w, const char *name)
{
	AUTO(str) path = STR_INIT(2 * WALK_NAMES_MAX);

	if (w->mounts.n == 0)
		return false;
	if (strcmp(w->root_path, "/") != 0)
		str_add_text(&path, w->root_path);
	str_add(&path, w->path.data, w->path.len);
	str_addf(&path, "/%s", name);
	return strv_has(&w->mounts, str_text(&path));
}

static bool is_border(const struct walk *w, const struct statx *st, const char *name)
{
	const struct walk_dir *top = &w->dirs[0];

	switch (w->borders) {
	case WALK_BORDERS_MOUNT_ID:
		return st->stx_mnt_id != top->mount;
	case WALK_BORDERS_MOUNTINFO:
		return on_mountpoint(w, name);
	case WALK_BORDERS_DEVICE:
	default:
		return walk_dirs_device(st) != top->device;
	}
}

bool walk_met_device(const struct walk *w, uint64_t device)
{
	for (size_t i = w->n_devices; i > 0; i--)
		if (w->devices[i - 1] == device)
			return true;
	return false;
}

/* False: one more than can be remembered. */
static bool note_device(struct walk *w, uint64_t device)
{
	if (walk_met_device(w, device))
		return true;
	if (w->n_devices == WALK_DEVICES_MAX)
		return false;
	w->devices[w->n_devices++] = device;
	return true;
}

bool walk_first_time(struct walk *w, uint64_t device, uint64_t inode)
{
	int added = walk_links_add(&w->links, device, inode);

	/* Those without a name are never left out because those with several filled the set. */
	if (added < 0)
		added = walk_links_add(&w->nameless, device, inode);
	return added > 0;
}

static bool count(struct walk *w, const struct statx *st)
{
	uint64_t device = walk_dirs_device(st), bytes = st->stx_blocks * BLOCK;

	w->result.entries++;
	if (!S_ISDIR(st->stx_mode) && st->stx_nlink > 1) {
		int added = walk_links_add(&w->links, device, st->stx_ino);
		if (added == 0)
			return true;
		if (added < 0) {
			w->links_full = true;
			bytes /= st->stx_nlink;
		}
	}
	w->result.bytes += bytes;
	return note_device(w, device) || end(w, WALK_ERROR);
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static bool left_out(const struct walk *w, const char *name)
{
	return w->depth == 1 && w->root->exclude_top && strcmp(name, w->root->exclude_top) == 0;
}

static bool take_entry(struct walk *w, struct walk_dir *d, const char *name)
{
	struct statx st;

	if (is_dots(name) || left_out(w, name))
		return true;
	if (++w->ticks % TICKS == 0 && !time_left(w))
		return false;
	if (walk_dirs_stat(d->fd, name, &st) < 0) {
		d->unreadable = errno != ENOENT;
		return true;
	}
	if (is_border(w, &st, name))
		return true;
	if (!count(w, &st))
		return false;
	if (S_ISDIR(st.stx_mode) && str_add(&w->names, name, strlen(name) + 1) < 0)
		return end(w, WALK_ERROR);
	return true;
}

/* Of a listing, in the deepest directory. */
static size_t piece_size(const struct walk *w)
{
	size_t share = WALK_LIST_SHARE / w->depth;

	if (share > WALK_LIST_SIZE)
		return WALK_LIST_SIZE;
	return share < WALK_LIST_LEAST ? WALK_LIST_LEAST : share;
}

/* One piece of the listing of the deepest directory. */
static bool list_piece(struct walk *w, struct walk_dir *d)
{
	ssize_t n = getdents64(d->fd, w->list, piece_size(w));

	/* A name that is longer than the piece. */
	if (n < 0 && errno == EINVAL)
		n = getdents64(d->fd, w->list, WALK_LIST_SIZE);
	/* ENOENT: the directory itself was deleted. */
	d->listed = n <= 0;
	d->unreadable = n < 0 && errno != ENOENT;
	for (ssize_t at = 0; at < n && !d->unreadable;) {
		const struct dirent64 *e = (const void *)(w->list + at);
		at += e->d_reclen;
		d->offset = e->d_off;
		if (!take_entry(w, d, e->d_name))
			return false;
	}
	if (d->unreadable) {
		d->listed = true;
		note_unreadable(w, NULL);
	}
	return true;
}

/* Reads on until there is a directory to enter, or nothing more. */
static bool list_on(struct walk *w)
{
	struct walk_dir *d = &w->dirs[w->depth - 1];

	while (!d->listed && w->names.len - d->names < piece_size(w) / 2)
		if (!list_piece(w, d))
			return false;
	return true;
}

/* Takes the last name off the stack. */
static void take_name(struct walk *w, char ret[WALK_NAME_MAX + 1])
{
	size_t begin = w->names.len - 1;

	while (begin > 0 && w->names.data[begin - 1] != '\0')
		begin--;
	memcpy(ret, w->names.data + begin, w->names.len - begin);
	w->names.len = begin;
}

/* A directory that could not be opened. */
static bool not_opened(struct walk *w, const char *name)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
		return true;
	case EACCES:
	case EPERM:
		note_unreadable(w, name);
		return true;
	case EMFILE:
	case ENFILE:
		return end(w, WALK_FDS);
	default:
		return end(w, WALK_ERROR);
	}
}

static bool enter(struct walk *w)
{
	char name[WALK_NAME_MAX + 1];
	struct statx st;

	if (!time_left(w))
		return false;
	fault_hit("walk:enter");
	take_name(w, name);
	auto_fd int fd = walk_dirs_open(w, name);
	if (fd < 0)
		return not_opened(w, name);
	if (walk_dirs_stat(fd, "", &st) < 0)
		return end(w, WALK_ERROR);
	if (is_border(w, &st, name))
		return true;
	if (walk_dirs_push(w, fd, &st, name) < 0)
		return end(w, WALK_ERROR);
	(void)TAKE_FD(fd);
	return list_on(w);
}

static bool leave(struct walk *w)
{
	enum walk_reason reason = walk_dirs_pop(w);

	return reason == WALK_COMPLETE || end(w, reason);
}

static void go_through(struct walk *w)
{
	bool on = list_on(w);

	while (on && w->depth > 0) {
		const struct walk_dir *d = &w->dirs[w->depth - 1];
		if (w->names.len > d->names)
			on = enter(w);
		else if (!d->listed)
			on = list_on(w);
		else
			on = leave(w);
	}
}

/* How mount points are known: the kernel's numbers, the table of mounts, else the filesystem. */
static void settle_borders(struct walk *w, int fd, const struct statx *st)
{
	AUTO(str) text = STR_INIT(MOUNTINFO_MAX);

	w->borders = w->bounds.borders;
	if (w->borders == WALK_BORDERS_MOUNT_ID && !(st->stx_mask & STATX_MNT_ID))
		w->borders = WALK_BORDERS_MOUNTINFO;
	if (w->borders != WALK_BORDERS_MOUNTINFO)
		return;
	free(w->root_path);
	w->root_path = file_fd_path(fd);
	strv_done(&w->mounts);
	w->mounts = STRV_INIT(WALK_MOUNTS_MAX);
	if (!w->root_path ||
		file_read_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX - 1, &text) != 0 ||
		walk_mounts_below((struct text){str_text(&text), text.len}, text_of(w->root_path),
			&w->mounts) < 0)
		w->borders = WALK_BORDERS_DEVICE;
}

/* A root that may not be looked into. */
static int unreadable_root(struct walk *w)
{
	struct statx st;

	if (walk_dirs_stat(w->root->at, w->root->path, &st) == 0)
		(void)count(w, &st);
	note_unreadable(w, NULL);
	return 0;
}

/* Not quoted(), whose buffers belong to the main thread. */
static int fail(const struct walk_root *root, struct error *err)
{
	AUTO(str) path = STR_INIT(WALK_PATH_SHOWN);
	int why = errno;

	text_quote(&path, text_of(root->path), WALK_PATH_SHOWN / 8);
	return error_set_errno(err, ERROR_IO, why, "measuring %s", str_text(&path));
}

static int begin(struct walk *w, struct error *err)
{
	const struct walk_root *root = w->root;
	struct statx st;
	auto_fd int fd =
		openat(root->at, root->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return unreadable_root(w);
	if (fd < 0 && root->optional && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0;
	if (fd < 0 || walk_dirs_stat(fd, "", &st) < 0)
		return fail(root, err);
	settle_borders(w, fd, &st);
	if (walk_dirs_push(w, fd, &st, "") == 0)
		(void)TAKE_FD(fd);
	if (count(w, &st) && time_left(w))
		go_through(w);
	walk_dirs_clear(w);
	return 0;
}

int walk_root(
	struct walk *w, const struct walk_root *root, struct walk_result *ret, struct error *err)
{
	w->root = root;
	int r = begin(w, err);
	w->root = NULL;
	struct walk_result result = w->result;
	w->result = (struct walk_result){0};
	if (r < 0 || cancelled(w)) {
		walk_result_done(&result);
		return r < 0 ? -1 : 1;
	}
	if (result.reason == WALK_COMPLETE && result.n_unreadable > 0)
		result.reason = WALK_UNREADABLE;
	if (result.reason == WALK_COMPLETE && w->links_full)
		result.reason = WALK_ERROR;
	*ret = result;
	return 0;
}
