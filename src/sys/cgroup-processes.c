#include "sys/cgroup-processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "base/text.h"
#include "sys/file.h"

enum { FILE_MAX = 1 << 20, DEPTH_MAX = 16 };

struct list {
	pid_t *v;
	size_t n, max;
};

static int take_own(int group, struct list *l)
{
	AUTO(str) text = STR_INIT(FILE_MAX + 1);
	struct text line;
	uint64_t pid;

	int r = file_read_at(group, "cgroup.procs", FILE_MAX, &text);
	/* What is in a group of threads only is in the group above it. */
	if (r < 0)
		return errno == ENOENT || errno == ENODEV || errno == EOPNOTSUPP ? 0 : -1;
	struct text rest = {str_text(&text), text.len};
	while (text_split(&rest, '\n', &line)) {
		if (num_parse(line, INT32_MAX, &pid) != NUM_OK || pid == 0)
			continue;
		if (l->n == l->max)
			return 1;
		l->v[l->n++] = (pid_t)pid;
	}
	return r;
}

static int take_group(int group, unsigned depth, struct list *l);

static int take_below(int group, DIR *d, unsigned depth, struct list *l)
{
	struct dirent *e;
	int r = 0;

	while (r == 0 && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		auto_fd int below =
			openat(group, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			r = depth == DEPTH_MAX ? 1 : take_group(below, depth + 1, l);
		else if (errno != ENOENT)
			r = -1;
	}
	return r;
}

static int take_group(int group, unsigned depth, struct list *l)
{
	int r = take_own(group, l);

	if (r != 0)
		return r;
	auto_fd int fd = openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return errno == ENOENT ? 0 : -1;
	TAKE_FD(fd);
	r = take_below(group, d, depth, l);
	closedir(d);
	return r;
}

int cgroup_processes(int dir, pid_t *ret, size_t max, size_t *ret_n)
{
	struct list l = {.v = ret, .max = max};
	int r = -1;

	if (dir < 0)
		errno = EBADF;
	else
		r = take_group(dir, 0, &l);
	*ret_n = l.n;
	return r;
}
