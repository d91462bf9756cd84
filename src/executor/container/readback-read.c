#include "executor/container/readback.h"

enum { FILE_BYTES_MAX = 256, TEXTS_MAX = READBACK_LEVELS_MAX * 5 };

void readback_levels_done(struct readback_levels *l)
{
	strv_done(&l->text);
	l->n = 0;
}

/* How many groups lie between the process' own and the mount point, both counted. */
static size_t depth(const struct cgroup *g, enum cgroup_controller c)
{
	const char *path = g->paths[c], *mount = g->mounts[c];
	size_t n = 1;

	if (!path || !mount)
		return 0;
	for (const char *p = path + strlen(mount); strlen(mount) < strlen(path) && *p; p++)
		if (p[0] == '/' && p[1] != '\0' && p[1] != '/')
			n++;
	return n < READBACK_LEVELS_MAX ? n : READBACK_LEVELS_MAX;
}

static struct text read_file(const struct cgroup *g, enum cgroup_controller c, size_t level,
	const char *name, struct strv *keep)
{
	char buf[FILE_BYTES_MAX];

	if (cgroup_read(g, c, (unsigned)level, name, buf, sizeof(buf)) != 0 ||
		strv_add(keep, buf) < 0)
		return (struct text){NULL, 0};
	return text_of(keep->v[keep->n - 1]);
}

void readback_read(const struct cgroup *g, struct readback_levels *ret)
{
	bool v2 = g->version == 2;
	const struct {
		enum cgroup_controller controller;
		const char *name;
		size_t offset;
	} files[] = {
		{CGROUP_MEMORY, v2 ? "memory.max" : "memory.limit_in_bytes",
			offsetof(struct readback_level, memory)},
		{CGROUP_MEMORY, v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes",
			offsetof(struct readback_level, swap)},
		{CGROUP_CPU, v2 ? "cpu.max" : "cpu.cfs_quota_us",
			offsetof(struct readback_level, cpu)},
		{CGROUP_CPU, v2 ? NULL : "cpu.cfs_period_us",
			offsetof(struct readback_level, cpu_period)},
		{CGROUP_PIDS, "pids.max", offsetof(struct readback_level, pids)},
	};

	ret->text = STRV_INIT(TEXTS_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		size_t levels = files[i].name ? depth(g, files[i].controller) : 0;
		ret->n = ret->n > levels ? ret->n : levels;
		for (size_t level = 0; level < levels; level++)
			*(struct text *)((char *)&ret->v[level] + files[i].offset) =
				read_file(g, files[i].controller, level, files[i].name, &ret->text);
	}
}
