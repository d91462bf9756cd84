#include "sys/cgroup-locate.h"

#include <limits.h>

#include "base/mem.h"
#include "base/num.h"
#include "sys/mount-line.h"

static const char *const words[CGROUP_CONTROLLERS] = {
	[CGROUP_CPU] = "cpu",
	[CGROUP_MEMORY] = "memory",
	[CGROUP_PIDS] = "pids",
	[CGROUP_CPUACCT] = "cpuacct",
};
static const enum cgroup_controller limiting[] = {CGROUP_CPU, CGROUP_MEMORY, CGROUP_PIDS};

const char *cgroup_locate_word(enum cgroup_controller c, int version)
{
	return version == 2 && c == CGROUP_CPUACCT ? words[CGROUP_CPU] : words[c];
}

/* The path in the line "ID:WORDS:PATH" of a v1 controller, or of v2 ("0::PATH") for NULL. */
static bool find_group(struct text groups, const char *word, struct text *ret_path)
{
	struct text line, id, controllers;

	while (text_split(&groups, '\n', &line)) {
		if (!text_split(&line, ':', &id) || !text_split(&line, ':', &controllers) ||
			!line.p)
			continue;
		if (word ? mount_line_has(controllers, word)
			 : text_is(id, "0") && controllers.len == 0) {
			*ret_path = line;
			return true;
		}
	}
	return false;
}

static bool climbs(struct text path)
{
	struct text part;

	while (text_split(&path, '/', &part))
		if (text_is(part, ".."))
			return true;
	return false;
}

/* What of the group's path lies below the mount's root: "" or "/…". */
static bool below_root(struct text path, struct text root, struct text *ret_rest)
{
	if (text_is(root, "/"))
		root.len = 0;
	if (path.len < root.len || memcmp(path.p, root.p, root.len) != 0)
		return false;
	*ret_rest = text_after(path, root.len);
	if (text_is(*ret_rest, "/"))
		ret_rest->len = 0;
	return (ret_rest->len == 0 || ret_rest->p[0] == '/') && !climbs(*ret_rest);
}

static bool holds(const struct mount_line *m, const char *word)
{
	return word ? text_is(m->type, "cgroup") && mount_line_has(m->super, word)
		    : text_is(m->type, "cgroup2");
}

/* Finds the mount of a v1 controller (or of v2: NULL) that shows the path; both are allocated. */
static bool find_mount(struct text mountinfo, const char *word, struct text path, char **ret_mount,
	char **ret_path)
{
	struct mount_line m;
	size_t shortest = SIZE_MAX;

	while (mount_line_next(&mountinfo, &m)) {
		AUTO(str) root = STR_INIT(PATH_MAX);
		AUTO(str) target = STR_INIT(PATH_MAX);
		struct text rest;
		if (!holds(&m, word))
			continue;
		mount_line_unescape(&root, m.root);
		mount_line_unescape(&target, m.target);
		if (str_full(&root) || str_full(&target) || root.len >= shortest ||
			!below_root(path, (struct text){str_text(&root), root.len}, &rest))
			continue;
		shortest = root.len;
		free(*ret_mount);
		free(*ret_path);
		*ret_path = mem_printf("%s%.*s", str_text(&target), (int)rest.len, rest.p);
		*ret_mount = str_take(&target);
	}
	return shortest != SIZE_MAX;
}

static bool locate_v1(struct text groups, struct text mountinfo, struct cgroup *ret)
{
	bool found = false;
	struct text path;

	for (size_t c = 0; c < CGROUP_CONTROLLERS; c++)
		if (find_group(groups, words[c], &path) &&
			find_mount(mountinfo, words[c], path, &ret->mounts[c], &ret->paths[c]) &&
			c != CGROUP_CPUACCT)
			found = true;
	return found;
}

static bool locate_v2(struct text groups, struct text mountinfo, struct cgroup *ret)
{
	struct text path;

	for (size_t c = 0; c < CGROUP_CONTROLLERS; c++)
		if (!find_group(groups, NULL, &path) ||
			!find_mount(mountinfo, NULL, path, &ret->mounts[c], &ret->paths[c]))
			return false;
	return true;
}

int cgroup_locate(struct text groups, struct text mountinfo, struct cgroup *ret)
{
	if (locate_v1(groups, mountinfo, ret))
		ret->version = 1;
	else if (cgroup_locate_version(mountinfo) == 2 && locate_v2(groups, mountinfo, ret))
		ret->version = 2;
	return ret->version;
}

int cgroup_locate_version(struct text mountinfo)
{
	struct mount_line m;
	int version = 0;

	while (mount_line_next(&mountinfo, &m)) {
		for (size_t i = 0; i < ARRAY_SIZE(limiting); i++)
			if (holds(&m, words[limiting[i]]))
				return 1;
		if (holds(&m, NULL))
			version = 2;
	}
	return version;
}

int64_t cgroup_locate_number(struct text content, const char *key)
{
	struct text line, word;
	uint64_t n;

	while (text_split(&content, '\n', &line)) {
		if (key && (!text_split(&line, ' ', &word) || !text_is(word, key) || !line.p))
			continue;
		return num_parse(text_trim(line), INT64_MAX, &n) == NUM_OK ? (int64_t)n : -1;
	}
	return -1;
}
