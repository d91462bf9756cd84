/*
 * Theory of operation. A walk goes depth first without recursion. Of the deepest directory it reads
 * a piece of the listing: everything in it is looked at and counted at once, names of directories
 * are put on a stack (walker.names), from which the next one to enter is taken; when those of this
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

#include "base/mem.h"
#include "limits/walk-internal.h"
#include "sys/clock.h"
#include "sys/fault.h"

enum { BLOCK = 512 };

void walk_tree_init(struct walker *w, struct walk *all)
{
	w->all = all;
	w->names = STR_INIT(WALK_NAMES_MAX);
	w->path = STR_INIT(WALK_NAMES_MAX);
	w->list = mem_alloc(WALK_LIST_SIZE);
}

void walk_tree_done(struct walker *w)
{
	walk_dirs_clear(w);
	walk_result_done(&w->result);
	str_done(&w->names);
	str_done(&w->path);
	free(w->dirs);
	free(w->list);
}

bool walk_tree_end(struct walker *w, enum walk_reason reason)
{
	if (w->result.reason == WALK_COMPLETE)
		w->result.reason = reason;
	atomic_store(&w->all->crew.stop, true);
	return false;
}

bool walk_tree_cancelled(const struct walk *all)
{
	return all->bounds.cancelled && all->bounds.cancelled(all->bounds.data);
}

bool walk_tree_time_left(struct walker *w)
{
	const struct walk_bounds *b = &w->all->bounds;

	if (atomic_load(&w->all->crew.stop))
		return false;
	if (walk_tree_cancelled(w->all) ||
		(b->deadline_ms > 0 && clock_boottime_ms() >= b->deadline_ms))
		return walk_tree_end(w, WALK_DEADLINE);
	return true;
}

size_t walk_tree_depth(const struct walker *w)
{
	return w->above + w->depth;
}

void walk_tree_unreadable(struct walker *w, const char *name)
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

static bool on_mountpoint(const struct walker *w, const char *name)
{
	AUTO(str) path = STR_INIT(2 * WALK_NAMES_MAX);

	if (w->all->mounts.n == 0)
		return false;
	if (strcmp(w->all->root_path, "/") != 0)
		str_add_text(&path, w->all->root_path);
	str_add(&path, w->path.data, w->path.len);
	str_addf(&path, "/%s", name);
	return strv_has(&w->all->mounts, str_text(&path));
}

static bool is_border(const struct walker *w, const struct statx *st, const char *name)
{
	const struct walk *all = w->all;

	switch (all->borders) {
	case WALK_BORDERS_MOUNT_ID:
		return st->stx_mnt_id != all->root_mount;
	case WALK_BORDERS_MOUNTINFO:
		return on_mountpoint(w, name);
	case WALK_BORDERS_DEVICE:
	default:
		return walk_dirs_device(st) != all->root_device;
	}
}

/* False: one more than can be remembered. */
static bool note_device(struct walker *w, uint64_t device)
{
	struct walk *all = w->all;

	if (w->has_device && w->device == device)
		return true;
	w->has_device = true;
	w->device = device;
	pthread_mutex_lock(&all->lock);
	bool met = walk_met_device(all, device), fits = met || all->n_devices < WALK_DEVICES_MAX;
	if (!met && fits)
		all->devices[all->n_devices++] = device;
	pthread_mutex_unlock(&all->lock);
	return fits;
}

/* As walk_links_add. */
static int note_link(struct walk *all, uint64_t device, uint64_t inode)
{
	pthread_mutex_lock(&all->lock);
	int added = walk_links_add(&all->links, device, inode);
	if (added < 0)
		all->links_full = true;
	pthread_mutex_unlock(&all->lock);
	return added;
}

bool walk_tree_count(struct walker *w, const struct statx *st)
{
	uint64_t device = walk_dirs_device(st), bytes = st->stx_blocks * BLOCK;

	w->result.entries++;
	if (!S_ISDIR(st->stx_mode) && st->stx_nlink > 1) {
		int added = note_link(w->all, device, st->stx_ino);
		if (added == 0)
			return true;
		if (added < 0)
			bytes /= st->stx_nlink;
	}
	w->result.bytes += bytes;
	return note_device(w, device) || walk_tree_end(w, WALK_ERROR);
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static bool left_out(const struct walker *w, const char *name)
{
	const char *out = w->all->root->exclude_top;

	return out && walk_tree_depth(w) == 1 && strcmp(name, out) == 0;
}

/* From the names: is there time, and is there help. */
static bool look_up(struct walker *w)
{
	if (!walk_tree_time_left(w))
		return false;
	walk_crew_join(w);
	return true;
}

static bool take_entry(struct walker *w, struct walk_dir *d, const char *name)
{
	struct statx st;

	if (is_dots(name) || left_out(w, name))
		return true;
	if (++w->ticks % WALK_TICKS == 0 && !look_up(w))
		return false;
	if (walk_dirs_stat(d->fd, name, &st) < 0) {
		d->unreadable = errno != ENOENT;
		return true;
	}
	if (is_border(w, &st, name))
		return true;
	if (!walk_tree_count(w, &st))
		return false;
	if (S_ISDIR(st.stx_mode) && str_add(&w->names, name, strlen(name) + 1) < 0)
		return walk_tree_end(w, WALK_ERROR);
	return true;
}

/* Of a listing, in the deepest directory. */
static size_t piece_size(const struct walker *w)
{
	size_t share = WALK_LIST_SHARE / walk_tree_depth(w);

	if (share > WALK_LIST_SIZE)
		return WALK_LIST_SIZE;
	return share < WALK_LIST_LEAST ? WALK_LIST_LEAST : share;
}

/*
 * A piece of the listing of the deepest directory. What others take of it needs one name first that
 * could be looked at: a directory that lets nobody look is told once.
 */
static bool take_list(struct walker *w, struct walk_dir *d, size_t n)
{
	size_t ours = n;

	for (size_t at = 0; at < n && !d->unreadable;) {
		const struct dirent64 *e = (const void *)(w->list + at);
		at += e->d_reclen;
		d->offset = e->d_off;
		if (at > ours)
			continue;
		if (!take_entry(w, d, e->d_name))
			return false;
		if (!d->unreadable)
			ours = at + walk_crew_share_list(w, w->list + at, ours - at);
	}
	if (d->unreadable) {
		d->listed = true;
		walk_tree_unreadable(w, NULL);
	}
	return true;
}

static bool list_piece(struct walker *w, struct walk_dir *d)
{
	ssize_t n = getdents64(d->fd, w->list, piece_size(w));

	/* A name that is longer than the piece. */
	if (n < 0 && errno == EINVAL)
		n = getdents64(d->fd, w->list, WALK_LIST_SIZE);
	/* ENOENT: the directory itself was deleted. */
	d->listed = n <= 0;
	d->unreadable = n < 0 && errno != ENOENT;
	return take_list(w, d, n > 0 ? (size_t)n : 0);
}

/* Reads on until there is a directory to enter, or nothing more. */
static bool list_on(struct walker *w)
{
	struct walk_dir *d = &w->dirs[w->depth - 1];

	while (!d->listed && w->names.len - d->names < piece_size(w) / 2)
		if (!list_piece(w, d))
			return false;
	return true;
}

/* Takes the last name off the stack. */
static void take_name(struct walker *w, char ret[WALK_NAME_MAX + 1])
{
	size_t begin = w->names.len - 1;

	while (begin > 0 && w->names.data[begin - 1] != '\0')
		begin--;
	memcpy(ret, w->names.data + begin, w->names.len - begin);
	w->names.len = begin;
}

/* A directory that could not be opened. */
static bool not_opened(struct walker *w, const char *name)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
		return true;
	case EACCES:
	case EPERM:
		walk_tree_unreadable(w, name);
		return true;
	case EMFILE:
	case ENFILE:
		return walk_tree_end(w, WALK_FDS);
	default:
		return walk_tree_end(w, WALK_ERROR);
	}
}

static bool enter(struct walker *w)
{
	char name[WALK_NAME_MAX + 1];
	struct statx st;

	if (!look_up(w))
		return false;
	w->ticks++;
	if (w == &w->all->own)
		fault_hit("walk:enter");
	walk_crew_share_names(w);
	take_name(w, name);
	auto_fd int fd = walk_dirs_open(w, name);
	if (fd < 0)
		return not_opened(w, name);
	if (walk_dirs_stat(fd, "", &st) < 0)
		return walk_tree_end(w, WALK_ERROR);
	if (is_border(w, &st, name))
		return true;
	struct walk_dir d = walk_dirs_of(fd, &st);
	if (walk_dirs_push(w, &d, name) < 0)
		return walk_tree_end(w, WALK_ERROR);
	(void)TAKE_FD(fd);
	return list_on(w);
}

static bool leave(struct walker *w)
{
	enum walk_reason reason = walk_dirs_pop(w);

	return reason == WALK_COMPLETE || walk_tree_end(w, reason);
}

static void go_through(struct walker *w, bool on)
{
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

void walk_tree_root(struct walker *w)
{
	go_through(w, list_on(w));
	walk_dirs_clear(w);
}

void walk_tree_job(struct walker *w, struct walk_job *job)
{
	bool on = true;

	w->above = job->above;
	str_add(&w->path, job->path, job->path_len);
	(void)walk_dirs_push(w, &job->dir, "");
	job->dir.fd = -1;
	if (job->names)
		on = str_add(&w->names, job->names, job->names_len) == 0;
	if (job->list) {
		memcpy(w->list, job->list, job->list_len);
		on = take_list(w, &w->dirs[0], job->list_len);
	}
	go_through(w, on);
	walk_dirs_clear(w);
}
