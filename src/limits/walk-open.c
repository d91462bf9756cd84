#include "limits/walk-open.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/num.h"
#include "limits/walk-links.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/mount-line.h"

enum { BLOCK = 512, MOUNTINFO_MAX = 16 << 20, FDINFO_MAX = 4096, NAME_SIZE = 64 };

static_assert((size_t)WALK_OPEN_FDS <= WALK_LINKS_MAX, "walk_first_time takes each of them");

/* One look at all processes. */
struct look {
	struct walk *w;
	struct walk_result *ret;
	uint64_t mounts[WALK_OPEN_MOUNTS];
	size_t n_mounts;
	struct stat ns; /* the container's; st_ino 0 = not known */
	int64_t until;
	unsigned fds;
};

size_t walk_open_mounts(
	struct text mountinfo, const char *const *targets, uint64_t *ret, size_t max)
{
	struct mount_line line;
	size_t n = 0;

	while (n < max && mount_line_next(&mountinfo, &line)) {
		AUTO(str) target = STR_INIT(line.target.len);
		mount_line_unescape(&target, line.target);
		for (size_t i = 0; targets[i]; i++)
			if (strcmp(str_text(&target), targets[i]) == 0) {
				ret[n++] = line.id;
				break;
			}
	}
	return n;
}

static void not_all(struct look *l)
{
	if (l->ret->reason == WALK_COMPLETE)
		l->ret->reason = WALK_FDS;
}

static bool is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

/* The mount a descriptor was opened through; 0 = it is gone. */
static int mount_of(int info, const char *fd, uint64_t *ret)
{
	AUTO(str) text = STR_INIT(FDINFO_MAX);
	struct text rest, line;

	*ret = 0;
	if (file_read_at(info, fd, FDINFO_MAX - 1, &text) < 0)
		return is_gone(errno) ? 0 : -1;
	rest = (struct text){str_text(&text), text.len};
	while (text_split(&rest, '\n', &line))
		if (text_starts(line, "mnt_id:"))
			return num_parse(text_trim(text_after(line, strlen("mnt_id:"))), UINT64_MAX,
				       ret) == NUM_OK
				       ? 0
				       : -1;
	return 0;
}

static bool through_target(const struct look *l, uint64_t mount)
{
	for (size_t i = 0; i < l->n_mounts; i++)
		if (l->mounts[i] == mount)
			return true;
	return false;
}

/* info: the process' fdinfo if it is in the container's mount namespace, else -1. */
static void take_fd(struct look *l, int fds, int info, const char *name)
{
	struct stat st;
	uint64_t mount;

	if (fstatat(fds, name, &st, 0) < 0) {
		if (!is_gone(errno))
			not_all(l);
		return;
	}
	if (!S_ISREG(st.st_mode) || st.st_nlink > 0 || !walk_met_device(l->w, st.st_dev))
		return;
	if (info >= 0 && mount_of(info, name, &mount) < 0)
		not_all(l);
	else if (info >= 0 && !through_target(l, mount))
		return;
	if (walk_first_time(l->w, st.st_dev, st.st_ino))
		l->ret->bytes += (uint64_t)st.st_blocks * BLOCK;
}

static void cleanup_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static DIR *open_fds(int process)
{
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		cleanup_fd(&fd);
	return d;
}

/* False: a bound was met. */
static bool take_process(struct look *l, int process)
{
	struct stat st;
	struct dirent *e;
	__attribute__((cleanup(cleanup_dir))) DIR *fds = open_fds(process);

	if (!fds || fstatat(process, "ns/mnt", &st, 0) < 0) {
		if (!is_gone(errno))
			not_all(l);
		return true;
	}
	bool inside = l->ns.st_ino && file_same(&st, &l->ns);
	auto_fd int info =
		inside ? openat(process, "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (inside && info < 0) {
		if (!is_gone(errno))
			not_all(l);
		return true;
	}
	while ((e = readdir(fds))) {
		if (e->d_name[0] == '.')
			continue;
		if (++l->fds > WALK_OPEN_FDS || clock_boottime_ms() >= l->until)
			return false;
		take_fd(l, dirfd(fds), info, e->d_name);
	}
	return true;
}

static int open_process(pid_t pid)
{
	char path[NAME_SIZE];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void learn_mounts(struct look *l, const struct walk_open *in)
{
	AUTO(str) text = STR_INIT(MOUNTINFO_MAX);
	auto_fd int process = open_process(in->init);

	if (process < 0 || fstatat(process, "ns/mnt", &l->ns, 0) < 0 ||
		file_read_at(process, "mountinfo", MOUNTINFO_MAX - 1, &text) != 0) {
		l->ns.st_ino = 0;
		return;
	}
	l->n_mounts = walk_open_mounts(
		(struct text){str_text(&text), text.len}, in->targets, l->mounts, WALK_OPEN_MOUNTS);
}

void walk_open_add(struct walk *w, const struct walk_open *in, struct walk_result *ret)
{
	struct look l = {.w = w, .ret = ret, .until = clock_boottime_ms() + WALK_OPEN_MS};
	size_t n = in->n < WALK_OPEN_PROCESSES ? in->n : WALK_OPEN_PROCESSES;
	bool all = !in->more && n == in->n;

	learn_mounts(&l, in);
	for (size_t i = 0; all && i < n; i++) {
		auto_fd int process = open_process(in->pids[i]);
		if (process < 0) {
			if (!is_gone(errno))
				not_all(&l);
			continue;
		}
		all = take_process(&l, process);
	}
	if (!all)
		not_all(&l);
}
