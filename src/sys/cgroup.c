#include "sys/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "base/text.h"
#include "sys/cgroup-locate.h"
#include "sys/file.h"

enum { GROUPS_MAX = 64 << 10, MOUNTINFO_MAX = 4 << 20, VALUE_MAX = 4096 };

static struct text text_of_str(const struct str *s)
{
	return (struct text){str_text(s), s->len};
}

void cgroup_done(struct cgroup *g)
{
	for (size_t c = 0; c < CGROUP_CONTROLLERS; c++) {
		/* One descriptor stands for all in v2. */
		if (c == 0 || g->dirs[c] != g->dirs[0])
			cleanup_fd(&g->dirs[c]);
		free(g->paths[c]);
		free(g->mounts[c]);
	}
	*g = CGROUP_INIT;
}

static int read_mountinfo(struct str *ret)
{
	return file_read_at(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, ret);
}

/* "/proc/PID/cgroup" + mountinfo → version (0 = not found), -1 with errno. */
static int locate(const char *file, struct cgroup *ret)
{
	AUTO(str) groups = STR_INIT(0);
	AUTO(str) mountinfo = STR_INIT(0);

	if (file_read_at(AT_FDCWD, file, GROUPS_MAX, &groups) < 0 || read_mountinfo(&mountinfo) < 0)
		return -1;
	return cgroup_locate(text_of_str(&groups), text_of_str(&mountinfo), ret);
}

/* Opens what was located; false when nothing is left. */
static bool open_dirs(struct cgroup *g)
{
	bool any = false;

	for (size_t c = 0; c < CGROUP_CONTROLLERS; c++) {
		if (g->version == 2 && c > 0)
			g->dirs[c] = g->dirs[0];
		else if (g->paths[c])
			g->dirs[c] = open(g->paths[c], O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (g->dirs[c] >= 0)
			any = true;
	}
	return any;
}

int cgroup_open(pid_t pid, struct cgroup *ret, struct error *err)
{
	AUTO(cgroup) g = CGROUP_INIT;
	auto_free char *file = mem_printf("/proc/%d/cgroup", (int)pid);
	int version = locate(file, &g);

	if (version < 0)
		return error_set_errno(err, ERROR_IO, errno,
			"cannot read the control groups of process %d", (int)pid);
	if (version == 0)
		return error_set(
			err, ERROR_IO, "no mount shows the control groups of process %d", (int)pid);
	if (!open_dirs(&g))
		return error_set_errno(err, ERROR_IO, errno,
			"cannot open the control groups of process %d", (int)pid);
	*ret = g;
	g = CGROUP_INIT;
	return 0;
}

/* The group's directory `level` steps up, or NULL above the mount point. */
static char *ancestor(const struct cgroup *g, enum cgroup_controller c, unsigned level)
{
	size_t mount = strlen(g->mounts[c]), len = strlen(g->paths[c]);

	for (; level > 0; level--) {
		if (len <= mount)
			return NULL;
		while (len > mount && g->paths[c][--len] != '/')
			continue;
	}
	return mem_strndup(g->paths[c], len);
}

/* Trimmed content of dir/name into buf (cut to its size), false when it cannot be read. */
static bool read_value(int dir, const char *name, char *buf, size_t size)
{
	AUTO(str) content = STR_INIT(0);

	if (file_read_at(dir, name, size - 1, &content) < 0)
		return false;
	struct text t = text_trim(text_of_str(&content));
	memcpy(buf, t.p, t.len);
	buf[t.len] = '\0';
	return true;
}

int cgroup_read(const struct cgroup *g, enum cgroup_controller c, unsigned level, const char *name,
	char *buf, size_t size)
{
	if (g->dirs[c] < 0 || !g->paths[c])
		return 1;
	if (level == 0)
		return read_value(g->dirs[c], name, buf, size) ? 0 : 1;
	auto_free char *path = ancestor(g, c, level);
	auto_fd int dir = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	return dir >= 0 && read_value(dir, name, buf, size) ? 0 : 1;
}

static int64_t read_number(
	const struct cgroup *g, enum cgroup_controller c, const char *name, const char *key)
{
	char buf[VALUE_MAX];

	return cgroup_read(g, c, 0, name, buf, sizeof(buf)) == 0
		       ? cgroup_locate_number(text_of(buf), key)
		       : -1;
}

int64_t cgroup_cpu_ms(const struct cgroup *g)
{
	int64_t used = g->version == 2 ? read_number(g, CGROUP_CPU, "cpu.stat", "usage_usec")
				       : read_number(g, CGROUP_CPUACCT, "cpuacct.usage", NULL);

	return used < 0 ? -1 : used / (g->version == 2 ? 1000 : 1000000);
}

int64_t cgroup_memory_peak(const struct cgroup *g)
{
	return read_number(g, CGROUP_MEMORY,
		g->version == 2 ? "memory.peak" : "memory.max_usage_in_bytes", NULL);
}

int64_t cgroup_oom_kills(const struct cgroup *g)
{
	return read_number(g, CGROUP_MEMORY,
		g->version == 2 ? "memory.events" : "memory.oom_control", "oom_kill");
}

/* v1: the kernel signals an eventfd that is named with memory.oom_control in cgroup.event_control.
 */
static int watch_v1(int dir)
{
	char line[64];
	auto_fd int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	auto_fd int oom = openat(dir, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	auto_fd int control = openat(dir, "cgroup.event_control", O_WRONLY | O_CLOEXEC);

	if (event < 0 || oom < 0 || control < 0)
		return -1;
	int n = snprintf(line, sizeof(line), "%d %d", event, oom);
	return write(control, line, (size_t)n) == n ? TAKE_FD(event) : -1;
}

int cgroup_oom_watch(const struct cgroup *g, bool *ret_priority)
{
	int dir = g->dirs[CGROUP_MEMORY];
	int fd = -1;

	if (dir >= 0)
		fd = g->version == 2 ? openat(dir, "memory.events", O_RDONLY | O_CLOEXEC)
				     : watch_v1(dir);
	if (fd >= 0) {
		*ret_priority = g->version == 2;
		cgroup_oom_seen(fd);
	}
	return fd;
}

void cgroup_oom_seen(int fd)
{
	char ignored[512];

	/* An eventfd has no position and takes the seek as done. */
	if (lseek(fd, 0, SEEK_SET) == 0)
		(void)!read(fd, ignored, sizeof(ignored));
}

/* v2: cgroup.controllers of `dir` lists the word. */
static bool lists(const char *dir, const char *word)
{
	AUTO(str) content = STR_INIT(0);
	auto_free char *file = mem_printf("%s/cgroup.controllers", dir);

	if (file_read_at(AT_FDCWD, file, VALUE_MAX, &content) != 0)
		return false;
	struct text rest = text_trim(text_of_str(&content)), part;
	while (text_split(&rest, ' ', &part))
		if (text_is(part, word))
			return true;
	return false;
}

int cgroup_version(void)
{
	AUTO(str) mountinfo = STR_INIT(0);
	AUTO(cgroup) own = CGROUP_INIT;

	if (read_mountinfo(&mountinfo) < 0)
		return 0;
	int version = cgroup_locate_version(text_of_str(&mountinfo));
	if (version != 2)
		return version;
	if (locate("/proc/self/cgroup", &own) != 2)
		return 0;
	for (size_t c = 0; c < CGROUP_CONTROLLERS; c++)
		if (lists(own.mounts[c], cgroup_locate_word((enum cgroup_controller)c, 2)))
			return 2;
	return 0;
}

bool cgroup_delegated(enum cgroup_controller c)
{
	AUTO(cgroup) own = CGROUP_INIT;
	const char *word = cgroup_locate_word(c, 2);

	if (locate("/proc/self/cgroup", &own) != 2)
		return false;
	/*
	 * Where systemd's user manager, and so rootless podman, puts containers. Without one a
	 * group may have its controllers and not be ours to divide, as that of a service with
	 * User=: podman 4.3 names them all the same, and applies nothing.
	 */
	auto_free char *manager = mem_printf(
		"%s/user.slice/user-%u.slice/user@%u.service", own.mounts[c], geteuid(), geteuid());
	if (access(manager, F_OK) == 0)
		return lists(manager, word);
	return access(own.paths[c], W_OK) == 0 && lists(own.paths[c], word);
}

bool cgroup_limits_delegated(void)
{
	return cgroup_delegated(CGROUP_CPU) && cgroup_delegated(CGROUP_MEMORY) &&
	       cgroup_delegated(CGROUP_PIDS);
}
