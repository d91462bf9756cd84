#include "spec/mount-path.h"

#include "yaml/bytes.h"

enum { EXACTLY = 0, BELOW = 1 };

/* Exactly these, with BELOW everything in them, and in any case every ancestor. */
static const struct {
	const char *path;
	unsigned flags;
} reserved[] = {
	{"/workspace", EXACTLY},
	{"/tmp", EXACTLY},
	{"/proc", BELOW},
	{"/sys", BELOW},
	{"/dev", BELOW},
	{"/run/cloop", BELOW},
	{"/run/secrets", BELOW},
	{"/run/podman-init", BELOW},
	{"/run/.containerenv", BELOW},
	{"/.dockerenv", BELOW},
	{"/sbin/docker-init", BELOW},
	{"/usr/local/bin/cloop", BELOW},
	{"/etc/resolv.conf", BELOW},
	{"/etc/hosts", BELOW},
	{"/etc/hostname", BELOW},
};

bool mount_path_below(struct text path, struct text above)
{
	if (text_is(above, "/"))
		return path.len > 1;
	return path.len > above.len && path.p[above.len] == '/' &&
	       memcmp(path.p, above.p, above.len) == 0;
}

struct text mount_path_canonical(struct text target)
{
	const struct text var_run = TEXT("/var/run");
	bool there = text_equal(target, var_run) || mount_path_below(target, var_run);

	return there ? text_after(target, strlen("/var")) : target;
}

bool mount_path_reserved(struct text target)
{
	target = mount_path_canonical(target);
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		struct text r = text_of(reserved[i].path);
		if (text_equal(target, r) || mount_path_below(r, target))
			return true;
		if (reserved[i].flags & BELOW && mount_path_below(target, r))
			return true;
	}
	return false;
}

bool mount_path_protected(struct text source)
{
	struct text rest = source, first;

	return text_split(&rest, '/', &first) &&
	       (text_is(first, ".git") || text_is(first, ".cloop"));
}

static bool has_component(struct text t, const char *name)
{
	struct text rest = t, part;

	while (text_split(&rest, '/', &part))
		if (text_is(part, name))
			return true;
	return false;
}

static bool has_long_component(struct text t)
{
	struct text rest = t, part;

	while (text_split(&rest, '/', &part))
		if (part.len > MOUNT_PATH_COMPONENT_MAX)
			return true;
	return false;
}

static enum problem_code characters_fault(struct text t)
{
	if (bytes_has_refused(t) || text_has_byte(t, '\t'))
		return PROBLEM_CONTROL_CHARACTER;
	if (text_has_byte(t, ':'))
		return PROBLEM_COLON;
	return text_has_byte(t, '\\') ? PROBLEM_BACKSLASH : PROBLEM_NONE;
}

/* Rules 7-10; `relative` is the path without the leading slash of a target. */
static enum problem_code components_fault(struct text relative)
{
	if (has_component(relative, ".."))
		return PROBLEM_DOTDOT;
	if (has_component(relative, "") || has_component(relative, "."))
		return PROBLEM_NOT_CLEAN;
	return has_long_component(relative) ? PROBLEM_TOO_LONG : PROBLEM_NONE;
}

enum problem_code mount_path_source_fault(struct text t)
{
	enum problem_code fault = characters_fault(t);

	if (fault)
		return fault;
	if (text_starts(t, "/"))
		return PROBLEM_ABSOLUTE_PATH;
	if (text_is(t, "."))
		return PROBLEM_WORKSPACE_ROOT;
	return components_fault(t);
}

enum problem_code mount_path_target_fault(struct text t)
{
	enum problem_code fault = characters_fault(t);

	if (fault)
		return fault;
	if (!text_starts(t, "/"))
		return PROBLEM_RELATIVE_PATH;
	if (t.len > 1)
		fault = components_fault(text_after(t, 1));
	if (fault)
		return fault;
	return mount_path_reserved(t) ? PROBLEM_RESERVED_TARGET : PROBLEM_NONE;
}

void mount_path_clean(struct text t, struct str *out)
{
	struct text rest = t, part;
	bool absolute = text_starts(t, "/");

	while (text_split(&rest, '/', &part)) {
		if (part.len == 0 || text_is(part, "."))
			continue;
		if (absolute || out->len > 0)
			str_add_char(out, '/');
		str_add(out, part.p, part.len);
	}
	if (out->len == 0)
		str_add_char(out, absolute ? '/' : '.');
}
