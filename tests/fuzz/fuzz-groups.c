/*
 * /proc/PID/cgroup and mountinfo (container-driver.md §25.1). Input: the first text, NUL, the
 * second. Whatever they say, a located group lies below its mount and climbs nowhere.
 */
#include <assert.h>
#include <stdint.h>

#include "sys/cgroup-locate.h"
#include "sys/mount-line.h"

static bool within(struct text part, struct text whole)
{
	return part.p >= whole.p && part.p + part.len <= whole.p + whole.len;
}

static void check_line(struct text whole, const struct mount_line *m)
{
	const struct text fields[] = {m->root, m->target, m->options, m->type, m->source, m->super};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		AUTO(str) plain = STR_INIT(fields[i].len);
		assert(within(fields[i], whole) && !text_has_byte(fields[i], ' '));
		assert(!text_has_byte(fields[i], '\n'));
		mount_line_unescape(&plain, fields[i]);
		assert(!str_full(&plain));
	}
}

static void check_group(const struct cgroup *g, size_t c)
{
	assert((g->paths[c] != NULL) == (g->mounts[c] != NULL));
	if (!g->paths[c])
		return;
	struct text path = text_of(g->paths[c]), rest, part;
	assert(text_starts(path, g->mounts[c]));
	rest = text_after(path, strlen(g->mounts[c]));
	assert(rest.len == 0 || rest.p[0] == '/');
	while (text_split(&rest, '/', &part))
		assert(!text_is(part, ".."));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text mountinfo = {(const char *)data, size}, groups, rest;
	AUTO(cgroup) g = CGROUP_INIT;
	struct mount_line m;

	if (size == 0)
		return 0;
	text_split(&mountinfo, '\0', &groups);
	if (!mountinfo.p)
		mountinfo = groups;
	rest = mountinfo;
	while (mount_line_next(&rest, &m))
		check_line(mountinfo, &m);
	int version = cgroup_locate(groups, mountinfo, &g);
	assert(version == g.version && version >= 0 && version <= 2);
	assert(version == 0 || cgroup_locate_version(mountinfo) > 0);
	for (size_t c = 0; version > 0 && c < CGROUP_CONTROLLERS; c++)
		check_group(&g, c);
	assert(cgroup_locate_number(groups, "oom_kill") >= -1);
	assert(cgroup_locate_number(groups, NULL) >= -1);
	return 0;
}
