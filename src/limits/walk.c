#include "limits/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

#include "base/enum-text.h"
#include "base/mem.h"
#include "limits/walk-internal.h"
#include "limits/walk-mounts.h"
#include "sys/file.h"

enum {
	DIRS_MIN = 8,
	DIRS_MAX = 4096,
	DIRS_SHARE = 8,
	MOUNTINFO_MAX = 16 << 20,
	USUAL_WALKERS =
		2, /* measured: half the time; more would take more than a sample is worth */
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

/* Each has descriptors enough for itself. */
static size_t usual_walkers(size_t dirs)
{
	cpu_set_t set;

	if (dirs < USUAL_WALKERS * DIRS_MIN || sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	return CPU_COUNT(&set) < USUAL_WALKERS ? (size_t)CPU_COUNT(&set) : USUAL_WALKERS;
}

struct walk *walk_new(const struct walk_bounds *b)
{
	struct walk *w = mem_alloc(sizeof(*w));
	size_t dirs = b->max_dirs ? b->max_dirs : usual_dirs();

	w->bounds = *b;
	w->walkers = b->walkers ? b->walkers : usual_walkers(dirs);
	if (w->walkers > WALK_CREW_MAX)
		w->walkers = WALK_CREW_MAX;
	w->max_dirs = dirs > w->walkers ? dirs / w->walkers : 1;
	w->mounts = STRV_INIT(WALK_MOUNTS_MAX);
	w->links.max = b->max_links;
	w->lock = (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
	w->crew.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	walk_tree_init(&w->own, w);
	return w;
}

void walk_free(struct walk *w)
{
	if (!w)
		return;
	walk_tree_done(&w->own);
	walk_links_done(&w->links);
	walk_links_done(&w->nameless);
	strv_done(&w->mounts);
	free(w->root_path);
	pthread_cond_destroy(&w->crew.changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int64_t walk_helped_us(const struct walk *w)
{
	return w->crew.cpu_us;
}

bool walk_met_device(const struct walk *w, uint64_t device)
{
	for (size_t i = w->n_devices; i > 0; i--)
		if (w->devices[i - 1] == device)
			return true;
	return false;
}

bool walk_first_time(struct walk *w, uint64_t device, uint64_t inode)
{
	int added = walk_links_add(&w->links, device, inode);

	/* Those without a name are never left out because those with several filled the set. */
	if (added < 0)
		added = walk_links_add(&w->nameless, device, inode);
	return added > 0;
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
		(void)walk_tree_count(&w->own, &st);
	walk_tree_unreadable(&w->own, NULL);
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
	w->root_device = walk_dirs_device(&st);
	w->root_mount = st.stx_mnt_id;
	w->own.above = 0;
	struct walk_dir d = walk_dirs_of(fd, &st);
	if (walk_dirs_push(&w->own, &d, "") == 0)
		(void)TAKE_FD(fd);
	if (walk_tree_count(&w->own, &st) && walk_tree_time_left(&w->own))
		walk_tree_root(&w->own);
	walk_crew_finish(w);
	return 0;
}

int walk_root(
	struct walk *w, const struct walk_root *root, struct walk_result *ret, struct error *err)
{
	w->root = root;
	int r = begin(w, err);
	w->root = NULL;
	struct walk_result result = w->own.result;
	w->own.result = (struct walk_result){0};
	if (r < 0 || walk_tree_cancelled(w)) {
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
